import { useLanguage } from '../i18n/language.js'
import { Title } from '../parts/Title.js'

export default function Missing() {
  const { words } = useLanguage()
  return (
    <>
      <Title text={words.missing.title} />
      <p>{words.missing.text}</p>
      <p>
        <a href="/p/classement">{words.missing.back}</a>
      </p>
    </>
  )
}
