import type { Component, SwaggerDocument, SwaggerPlugin, SwaggerSystem } from './swagger.js'

/** The server in the code samples of openapi.json. The page replaces it by its own origin. */
const EXAMPLE_SERVER = 'http://127.0.0.1:8080'

interface Sample {
  lang: string
  label?: string
  source: string
}

/** Shows the `x-codeSamples` of an operation as tabs above its responses. */
export function codeSamples(): SwaggerPlugin {
  return {
    wrapComponents: {
      responses: (original, system) => {
        const Samples = samplesOf(system)
        const { createElement } = system.React
        return (props) => {
          const samples = readSamples(props)
          return createElement(
            'div',
            null,
            samples.length > 0 && createElement(Samples, { samples, name: `${props.method} ${props.path}` }),
            createElement(original, props),
          )
        }
      },
    },
  }
}

function readSamples({ path, method, specSelectors }: Record<string, unknown>): Sample[] {
  const { specJson } = specSelectors as { specJson(): SwaggerDocument }
  const found = specJson().getIn(['paths', String(path), String(method), 'x-codeSamples'])
  const samples = (found?.toJS() as Sample[] | undefined) ?? []
  return samples.map((sample) => ({ ...sample, source: sample.source.replaceAll(EXAMPLE_SERVER, location.origin) }))
}

function samplesOf({ React }: SwaggerSystem): Component {
  const { createElement, useState } = React
  return ({ samples, name }) => {
    const all = samples as Sample[]
    const [chosen, choose] = useState(0)
    const move = (event: KeyboardEvent) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
      if (step === undefined) return
      const next = (chosen + step + all.length) % all.length
      choose(next)
      const tabs = (event.currentTarget as HTMLElement).querySelectorAll('button')
      tabs[next]?.focus()
    }
    const tabs = all.map(({ lang, label }, index) =>
      createElement(
        'button',
        {
          key: label ?? lang,
          type: 'button',
          role: 'tab',
          'aria-selected': index === chosen,
          tabIndex: index === chosen ? 0 : -1,
          onClick: () => choose(index),
        },
        label ?? lang,
      ),
    )
    return createElement(
      'div',
      { className: 'samples' },
      createElement('div', { role: 'tablist', 'aria-label': `Examples: ${name}`, onKeyDown: move }, ...tabs),
      createElement('pre', { role: 'tabpanel', tabIndex: 0 }, createElement('code', null, all[chosen]?.source)),
    )
  }
}
