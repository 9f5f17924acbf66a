import type { Access, Endpoint } from '../contract.js'

/** What the samples of one operation are made from. */
interface Call {
  method: string
  url: string
  /** The name and the value of the header that carries the credential; the value is of the environment. */
  credential?: { header: string; before: string; variable: string }
  body?: { contentType: string; text: string }
}

const EXAMPLE_SERVER = 'http://127.0.0.1:8080'

/** How to call an operation in some languages. The examples run as they are, with the credential in the environment. */
export function samplesOf(endpoint: Endpoint, access: Access, serverUrl = EXAMPLE_SERVER) {
  const call = callOf(endpoint, access, serverUrl.replace(/\/$/, ''))
  return [
    { lang: 'Shell', label: 'curl', source: curl(call) },
    { lang: 'JavaScript', label: 'JavaScript', source: javascript(call) },
    { lang: 'Python', label: 'Python', source: python(call) },
    { lang: 'PHP', label: 'PHP', source: php(call) },
  ]
}

function callOf({ method, path, query, requestBody }: Endpoint, access: Access, serverUrl: string): Call {
  const required = Object.entries(query).filter(([, { isRequired }]) => isRequired)
  const sent = [...required.map(([name]) => `${name}=${name}`), ...('limite' in query ? ['limite=10'] : [])]
  const url = `${serverUrl}${path.replace(/\{\w+\}/g, '1')}${sent.length > 0 ? `?${sent.join('&')}` : ''}`
  const [contentType] = requestBody?.contentTypes ?? []
  const body = requestBody && contentType ? { contentType, text: requestBody.example } : undefined
  const credential = credentials[access]
  return { method, url, ...(credential && { credential }), ...(body && { body }) }
}

const credentials: Record<Access, Call['credential']> = {
  open: undefined,
  credential: { header: 'Authorization', before: 'Bearer ', variable: 'PALMARES_KEY' },
  session: { header: 'Cookie', before: 'service_session=', variable: 'PALMARES_SESSION' },
}

function curl({ method, url, credential, body }: Call): string {
  const options = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(credential ? [`-H "${credential.header}: ${credential.before}$${credential.variable}"`] : []),
    ...(body ? [`-H 'Content-Type: ${body.contentType}'`, `--data-binary '${body.text}'`] : []),
  ]
  return ['curl', ...options, `'${url}'`].join(' \\\n  ')
}

function javascript({ method, url, credential, body }: Call): string {
  const headers = [
    ...(credential ? [`${credential.header}: \`${credential.before}\${process.env.${credential.variable}}\``] : []),
    ...(body ? [`'Content-Type': '${body.contentType}'`] : []),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body ? [`body: '${body.text}'`] : []),
  ]
  const init = options.length > 0 ? `, {\n  ${options.join(',\n  ')},\n}` : ''
  return `const answer = await fetch('${url}'${init})\nif (!answer.ok) throw new Error((await answer.json()).detail)\nconsole.log(await answer.text())`
}

function python({ method, url, credential, body }: Call): string {
  const headers = [
    ...(credential ? [`"${credential.header}": "${credential.before}" + os.environ["${credential.variable}"]`] : []),
    ...(body ? [`"Content-Type": "${body.contentType}"`] : []),
  ]
  const options = [
    `"${url}"`,
    `method="${method}"`,
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(body ? [`data=b'${body.text}'`] : []),
  ]
  return `import os, urllib.request\n\nrequest = urllib.request.Request(\n    ${options.join(',\n    ')},\n)\nprint(urllib.request.urlopen(request).read().decode())`
}

function php({ method, url, credential, body }: Call): string {
  const headers = [
    ...(credential ? [`'${credential.header}: ${credential.before}' . getenv('${credential.variable}')`] : []),
    ...(body ? [`'Content-Type: ${body.contentType}'`] : []),
  ]
  const options = [
    `'method' => '${method}'`,
    ...(headers.length > 0 ? [`'header' => [${headers.join(', ')}]`] : []),
    ...(body ? [`'content' => '${body.text}'`] : []),
  ]
  return `<?php\n$context = stream_context_create(['http' => [\n    ${options.join(',\n    ')},\n]]);\necho file_get_contents('${url}', false, $context);`
}
