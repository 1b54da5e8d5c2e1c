/** The routes by which pages load components. */

import { createHash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import type { ComponentSource } from '../../../src/graph/index.ts'
import { memoryDeployments } from '../../support/memory-deployments.ts'
import { activeIn, openKeyed } from './mount/deployment-door.ts'
import { writeProject } from '../graph/project/project-files.ts'
import { call, openDoor, plainStatus } from './open-front-door.ts'

const script = `ui-${'a'.repeat(32)}.js`
const sheet = `ui-${'b'.repeat(32)}.css`

/** The components of some graphs, each with a script and a style sheet. */
function sourceOf(...graphIds: string[]): ComponentSource {
  const contents: Record<string, string> = { [script]: 'draw()', [sheet]: 'b { color: red }' }
  return { namesOf: async (graphId) => graphIds.includes(graphId) ? [sheet, script] : [],
    read: async (name) => name in contents ? Buffer.from(contents[name]!) : undefined }
}

/** Attributes of elements, by the names of the elements. */
const attributesOf = (html: string) =>
  Object.fromEntries([...html.matchAll(/<(\w+) [^]*?(?:href|src)="([^"]*)"([^]*?)>/g)]
    .map(([, element, address, rest]) => [element, [address, rest!.trim()]]))

describe('the elements of a component', () => {
  it('name its files, and call what draws it', async () => {
    const door = await openDoor({ components: sourceOf('my.agent') })
    const { status, headers, text } = await call(door, 'POST', '/ui/my.agent', { name: 'card' })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(attributesOf(text)).toEqual({
      link: [`${door.url}/ui/my.agent/${sheet}`, ''],
      script: [`${door.url}/ui/my.agent/${script}`,
        `onload='__LGUI_my_agent.render("card", "{{shadowRootId}}")'`],
    })
  })

  it('are those of an assistant, too', async () => {
    const door = await openDoor({ components: sourceOf('agent') })
    const { json } = await call(door, 'POST', '/assistants', { graph_id: 'agent' })
    const { text } = await call(door, 'POST', `/ui/${String(json['assistant_id'])}`, { name: 'a' })
    expect(text).toContain(`/ui/agent/${script}`)
    const other = await call(door, 'POST', '/assistants', { graph_id: 'other' })
    const id = String(other.json['assistant_id'])
    expect(await call(door, 'POST', `/ui/${id}`, { name: 'a' })).toMatchObject({ status: 404 })
  })

  it('keep a name a name, whatever it has in it', async () => {
    const door = await openDoor({ components: sourceOf('agent') })
    const names = [`'></script><img src=x onerror=alert(1)>`, '{{shadowRootId}}', '"+alert(1)+"',
      '\\', '&apos;', '\u2028\n', '🧶', 'x'.repeat(1_000)]
    for (const name of names) {
      const { text } = await call(door, 'POST', '/ui/agent', { name })
      const [, , quoted] = /^(__LGUI_agent\.render\()(".*"), "\{\{shadowRootId\}\}"\)$/
        .exec(/onload='([^']*)'><\/script>$/.exec(text)![1]!)!
      expect(quoted).toMatch(/^[\w "\\.-]*$/)
      expect(JSON.parse(quoted!)).toBe(name)
    }
    for (const body of [{}, { name: 5 }, { name: 'x'.repeat(1_001) }, []]) {
      expect(await call(door, 'POST', '/ui/agent', body)).toMatchObject({ status: 422 })
    }
  })

  it('are text that says so where there are none', async () => {
    const door = await openDoor({ components: sourceOf('agent') })
    for (const id of ['other', 'a.b', '<b>', 'constructor', '🧶', 'x'.repeat(500)]) {
      const { status, headers, text } = await call(door, 'POST', `/ui/${id}`, { name: 'card' })
      expect([id, status, headers.get('content-type'), headers.get('x-content-type-options')])
        .toEqual([id, 404, 'text/plain; charset=utf-8', 'nosniff'])
      expect(text).toContain('There is no UI')
    }
    for (const id of ['..%2f..%2fetc', 'a%2Fb', '..', '%00']) {
      const path = `/ui/${id}`
      expect(await plainStatus(door.url, path, {}, 'POST')).toBeGreaterThanOrEqual(400)
    }
    expect(await call(await openDoor(), 'POST', '/ui/agent', { name: 'card' }))
      .toMatchObject({ status: 404, text: 'There is no UI for agent.' })
  })

  it('have the address by which the client called', async () => {
    const from = (isFromProxy: boolean) =>
      openDoor({ components: sourceOf('agent'), allowHosts: ['*'], isFromProxy: () => isFromProxy })
    const [near, behind] = [await from(false), await from(true)]
    const linkOf = async (door: { readonly url: string }, host: string, forwarded: string) => {
      const answer = await call(door, 'POST', '/ui/agent', { name: 'card' }, {
        host,
        'x-forwarded-host': forwarded,
      })
      return attributesOf(answer.text)['link']![0]!.replace(sheet, '')
    }
    const address = new URL(near.url).host
    expect(await linkOf(near, address, 'evil.example')).toBe(`http://${address}/ui/agent/`)
    expect(await linkOf(behind, address, 'a.example, agents.example'))
      .toBe('//agents.example/ui/agent/')
    expect(await linkOf(behind, address, 'a"><script>')).toBe('///ui/agent/')
  })
})

it('are below the prefix by which the page called', async () => {
  const door = await openDoor({ components: sourceOf('agent'),
    projectHttp: () => ({ mount_prefix: '/my/agents' }) })
  for (const prefix of ['', '/my/agents']) {
    const { text } = await call(door, 'POST', `${prefix}/ui/agent?a=/ui/b`, { name: 'card' })
    const [address] = attributesOf(text)['script']!
    expect(address).toBe(`${door.url}${prefix}/ui/agent/${script}`)
    expect(await call(door, 'GET', address!.slice(door.url.length))).toMatchObject({ status: 200 })
  }
})

describe('a file of components', () => {
  it('is for every page that knows its name, and for ever', async () => {
    const door = await openDoor({ components: sourceOf('agent') })
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'script' }
    const loaded = await call(door, 'GET', `/ui/agent/${script}`, undefined, foreign)
    expect(loaded).toMatchObject({ status: 200, text: 'draw()' })
    const named = ['content-type', 'cache-control', 'x-content-type-options',
      'access-control-allow-origin', 'cross-origin-resource-policy']
    expect(named.map((name) => loaded.headers.get(name))).toEqual(['text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable', 'nosniff', '*', 'cross-origin'])
    const style = await call(door, 'GET', `/ui/agent/${sheet}`)
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
    // Nothing else may be loaded so.
    expect(await call(door, 'GET', '/info', undefined, foreign)).toMatchObject({ status: 403 })
  })

  it('is sent to a page of another origin that fetches it', async () => {
    const origin = { origin: 'https://page.example' }
    const door = await openDoor({ components: sourceOf('agent'),
      projectHttp: () => ({ cors: { allow_origins: ['https://mine.example'] } }) })
    const loaded = await call(door, 'GET', `/ui/agent/${script}`, undefined, origin)
    expect([loaded.status, loaded.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect((await call(door, 'POST', '/ui/agent', { name: 'card' }, origin)).status).toBe(403)
    expect((await call(door, 'GET', '/info', undefined, origin)).status).toBe(403)
  })

  it('has no other name', async () => {
    const door = await openDoor({
      components: { ...sourceOf('agent'), read: async (name) => Buffer.from(name) },
    })
    for (const name of ['ui.js', 'components.json', `${script}.map`, script.toUpperCase(),
      `x${script}`, `${script}%0a`]) {
      expect([name, await plainStatus(door.url, `/ui/agent/${name}`)]).toEqual([name, 404])
    }
  })
})

describe('the frame of a component in the Studio', () => {
  it('runs its own script and what the page sends, and has no network', async () => {
    const folder = await writeProject({ 'index.html': '<base href="./">',
      'component.html': '<body><script>draw()</script></body>' })
    const door = await openDoor({ studio: { folder } })
    const headersOf = async (path: string) => {
      const { status, headers } = await call(door, 'GET', `/studio/${path}`)
      expect(status).toBe(200)
      return headers
    }
    const policyOf = async (path: string) =>
      (await headersOf(path)).get('content-security-policy')!.split('; ')
    const frame = await policyOf('component.html')
    const hash = createHash('sha256').update('draw()').digest('base64')
    expect(frame).toEqual(
      expect.arrayContaining(['sandbox allow-scripts', "default-src 'none'",
        `script-src 'sha256-${hash}' blob:`, "frame-ancestors 'self'", "form-action 'none'"]),
    )
    expect(frame.join()).not.toMatch(/connect-src|'self' |https?:|same-origin|unsafe-eval/)
    // The policy covers neither preconnects nor WebRTC.
    expect((await headersOf('component.html')).get('connection-allowlist')).toBe('()')
    // The page lets frames lead nowhere else.
    expect(await policyOf('threads')).toContain("frame-src 'self'")
  })
})

it('the page of the Studio runs by their hashes what stands in it', async () => {
  const folder = await writeProject({
    'index.html': '<base href="./"><script>pick()</script><style>b{}</style><script src="a.js">' +
      '</script>',
  })
  const door = await openDoor({ studio: { folder } })
  const { headers } = await call(door, 'GET', '/studio/threads')
  const hash = (text: string) => createHash('sha256').update(text).digest('base64')
  expect(headers.get('content-security-policy')!.split('; ')).toEqual(
    expect.arrayContaining([`script-src 'self' 'sha256-${hash('pick()')}'`,
      `style-src 'self' 'sha256-${hash('b{}')}'`]),
  )
})

describe('components of a deployment', () => {
  it('are its own, and their files need no key', async () => {
    const deployments = memoryDeployments()
    const components = (name: string) => sourceOf(name === 'shop' ? 'agent' : 'none')
    const { door, as } = await openKeyed({ serving: { ...deployments.serving, components } })
    await activeIn(deployments)
    const [owner, other] = [await as('acme', 'reader'), await as('other')]
    const body = { name: 'card' }
    const { text } = await owner('POST', '/d/shop/ui/agent', body)
    expect(attributesOf(text)['script']![0]).toBe(`${door.url}/d/shop/ui/agent/${script}`)
    expect(await owner('POST', '/ui/agent', body)).toMatchObject({ status: 404 })
    expect(await other('POST', '/d/shop/ui/agent', body)).toMatchObject({ status: 404 })
    expect(await call(door, 'POST', '/d/shop/ui/agent', body)).toMatchObject({ status: 401 })
    expect(await call(door, 'POST', '/ui/agent', body)).toMatchObject({ status: 401 })
    expect(await call(door, 'GET', `/d/shop/ui/agent/${script}`)).toMatchObject({ status: 200 })
    expect(await call(door, 'GET', `/d/none/ui/agent/${script}`)).toMatchObject({ status: 404 })
  })
})
