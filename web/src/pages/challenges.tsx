import { rubriqueOf, useAddress } from '../address.js'
import { usePage } from '../answers.js'
import { useLanguage } from '../i18n/language.js'
import { SearchField, Select } from '../parts/Field.js'
import { List } from '../parts/List.js'
import { langOf } from '../parts/lang.js'
import { PAGE_ROWS } from '../parts/Pager.js'
import { RubriqueSelect } from '../parts/RubriqueSelect.js'
import { type Column, Table } from '../parts/Table.js'
import { Title } from '../parts/Title.js'
import type { ChallengeItem } from '../wire.js'

/** Languages that the filter always offers. It adds those of the listed rows and the one in the URL. */
const LANGS = ['fr', 'en', 'de', 'es', 'zh']

export default function Challenges() {
  const { words } = useLanguage()
  const { query, start } = useAddress()
  const { titre, lang, score } = query
  const asking = usePage('/challenges', {
    query: {
      limite: PAGE_ROWS,
      debut_challenges: start || undefined,
      titre: titre || undefined,
      lang: lang || undefined,
      score: score || undefined,
      id_rubrique: rubriqueOf(query),
    },
  })
  return (
    <>
      <Title text={words.challenges.title} />
      <Filters inSight={asking.answer?.rows ?? []} />
      <List
        id="challenges"
        label={words.challenges.title}
        asking={asking}
        countText={words.challenges.count}
        emptyText={words.challenges.empty}
      >
        {(rows) => <ChallengeTable rows={rows} />}
      </List>
    </>
  )
}

function Filters({ inSight }: { inSight: ChallengeItem[] }) {
  const { words } = useLanguage()
  const { query, change } = useAddress()
  const { titre = '', lang = '', score = '' } = query
  const all = { value: '', text: words.filters.all }
  const langs = new Set([...LANGS, ...inSight.map((row) => row.lang), lang].filter(Boolean))
  const scores = [...new Set(inSight.map((row) => row.score))].sort((a, b) => a - b)
  const filter = (changes: Record<string, string>, replace = false) =>
    change({ ...changes, debut: undefined }, { replace })
  return (
    <search class="filters row card" aria-label={words.filters.label}>
      <SearchField label={words.challenges.search} value={titre} onSearch={(value) => filter({ titre: value }, true)} />
      <Select
        label={words.challenges.lang}
        value={lang}
        options={[all, ...[...langs].map((value) => ({ value, text: value }))]}
        onChange={(value) => filter({ lang: value })}
      />
      <RubriqueSelect label={words.challenges.rubrique} onChange={(id_rubrique) => filter({ id_rubrique })} />
      <SearchField
        label={words.challenges.score}
        value={score}
        isNumber
        suggestions={scores.map(String)}
        onSearch={(value) => filter({ score: value }, true)}
      />
    </search>
  )
}

function ChallengeTable({ rows }: { rows: ChallengeItem[] }) {
  const { words, number } = useLanguage()
  const columns: Column<ChallengeItem>[] = [
    {
      head: words.challenges.search,
      isName: true,
      cell: (row) => (
        <>
          <a href={`/p/challenges/${row.id_challenge}`} lang={langOf(row.lang)}>
            {row.titre}
          </a>
          <span class="sub" lang={langOf(row.lang)}>
            {row.soustitre}
          </span>
          <span class="sub narrow-only">{[row.rubrique, row.lang, row.difficulte].filter(Boolean).join(' · ')}</span>
        </>
      ),
    },
    { head: words.challenges.rubrique, isWideOnly: true, width: '20%', cell: (row) => row.rubrique },
    { head: words.challenges.lang, isWideOnly: true, width: '6rem', cell: (row) => row.lang },
    { head: words.challenges.difficulte, isWideOnly: true, width: '9rem', cell: (row) => row.difficulte },
    {
      head: words.challenges.score,
      isNumber: true,
      width: 'clamp(3.2rem, 10vw, 4.5rem)',
      cell: (row) => number(row.score),
    },
    {
      head: words.challenges.solves,
      isNumber: true,
      width: 'clamp(5rem, 14vw, 7rem)',
      cell: (row) => number(row.nb_validations),
    },
  ]
  return (
    <Table
      caption={words.challenges.caption}
      columns={columns}
      rows={rows}
      keyOf={({ id_challenge }) => id_challenge}
    />
  )
}
