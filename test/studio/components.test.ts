/**
 * Components that graphs bring: in a page with the unmodified SDK, and in the Studio's frames, for
 * the server's own project and for a deployment.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { readTree } from '../unit/revision/trees.ts'
import { deployedProject } from '../e2e/deploy/deployed-project.ts'
import { DeployTarget } from '../e2e/deploy/deploy-target.ts'
import { clientOf, useServer } from '../support/server.ts'
import { useBrowser } from './support/tab.ts'

const own = useServer({ project: 'components' })
const browser = useBrowser()

/** A page as somebody would write it, served from another port of this machine. */
let page: { readonly url: string; close(): void }

beforeAll(async () => {
  const { outputFiles: [script] } = await build({
    stdin: { loader: 'tsx', resolveDir: fileURLToPath(new URL('.', import.meta.url)), contents: `
      import { createRoot } from 'react-dom/client'
      import { useStream } from '@langchain/langgraph-sdk/react'
      import { LoadExternalComponent } from '@langchain/langgraph-sdk/react-ui'
      const query = new URLSearchParams(location.search)
      function App() {
        const stream = useStream({ apiUrl: query.get('api'), assistantId: 'cards' })
        const messages = [{ type: 'human', content: query.get('say') }]
        return <main>
          <button onClick={() => stream.submit({ messages })}>Send</button>
          {(stream.values.ui ?? []).map((message) =>
            <LoadExternalComponent key={message.id} stream={stream} message={message} />)}
        </main>
      }
      createRoot(document.getElementById('root')).render(<App />)` },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  })
  const server = createServer((request, response) => {
    const isScript = request.url === '/app.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript
      ? script!.text
      : '<!doctype html><link rel="icon" href="data:,"><div id="root"></div>' +
        '<script type="module" src="/app.js"></script>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  page = { url: `http://127.0.0.1:${port}/`, close: () => server.close() }
})
afterAll(() => page.close())

/** Deploys the same project as `cards`. */
async function deploy(): Promise<void> {
  const folder = fileURLToPath(new URL('../support/projects/components', import.meta.url))
  const project = await deployedProject(await readTree(folder))
  try {
    const target = new DeployTarget(own.url, 'cards')
    await target.create()
    await target.deploy(await project.built())
  } finally {
    await project.remove()
  }
}

const places = [
  { where: 'the own project', base: () => own.url, studio: () => `${own.url}/studio/` },
  { where: 'a deployment', base: () => `${own.url}/d/cards`,
    studio: () => `${own.url}/studio/d/cards/` },
]

const colourOf = (element: Locator) =>
  element.evaluate((each) => each.ownerDocument.defaultView.getComputedStyle(each).color)

/** Origin of the frame, and whether it reaches what is around it. */
const reach = `(async () => {
  const acts = [() => parent.document, () => localStorage, () => document.cookie,
    () => fetch('/info'), () => new RTCPeerConnection()]
  const refused = async (act) => {
    try {
      await act()
      return 'allowed'
    } catch {
      return 'refused'
    }
  }
  return [origin, ...await Promise.all(acts.map(refused))]
})()`

/** The red of the style sheet. */
const red = 'rgb(200, 0, 0)'

describe.each(places)('components of $where', ({ where, base, studio }) => {
  beforeAll(async () => {
    if (where === 'a deployment') await deploy()
  })

  it('are drawn with their style in a page with the unmodified SDK', async () => {
    const query = new URLSearchParams({ api: base(), say: 'card Paris' })
    // Its style reaches out, and a page without a policy lets it.
    const tab = await browser.open(`${page.url}?${query}`, {
      expected: /Failed to load resource: net::/,
    })
    await tab.page.getByRole('button', { name: 'Send' }).click()
    const card = tab.page.getByText('Weather in Paris')
    await card.waitFor()
    await expect.poll(() => colourOf(card)).toBe(red)
    // It shares the React and the thread of its page.
    await tab.page.getByText('1 human message').waitFor()
    expect(tab.complaints).toEqual([])
    await tab.close()
  })

  it('are drawn with their style in a frame of the Studio', async () => {
    const client = clientOf(base())
    const { thread_id: id } = await client.threads.create({ graphId: 'cards' })
    await client.runs.wait(id, 'cards', { input: { messages: 'card Rome' } })
    for (const colours of ['light', 'dark'] as const) {
      const tab = await browser.open(`${studio()}threads/${id}`, { colours })
      const frame = tab.page.frameLocator('iframe')
      const inFrame = (code: string) => tab.page.frames().at(-1)!.evaluate(code)
      const card = frame.getByText('Weather in Rome')
      await card.waitFor()
      expect(await colourOf(card)).toBe(red)
      expect(await inFrame('document.documentElement.style.colorScheme')).toBe(colours)
      const high = await tab.page.locator('iframe').evaluate((each) => each.clientHeight)
      expect(high).toBeGreaterThan(100)
      expect(high).toBeLessThan(200)
      // It has no origin, no storage, no page around it and no network.
      expect(await inFrame(reach)).toEqual(['null', ...Array(5).fill('refused')])
      expect(tab.complaints.filter((each) => !/CSP|Content Security Policy/.test(each))).toEqual([])
      await tab.close()
    }
  })
})

/** A tab, and the addresses of other origins that it reached: a policy stopped none of them. */
async function opened(url: string) {
  const tab = await browser.open(`${own.url}/ok`, {
    expected: /favicon|404|CSP|Content Security|it throws|no component|Framing|frame-src|Unsafe/,
  })
  const reached: string[] = []
  const isForeign = (address: string) => address.includes('evil.example')
  tab.page.on('response', (response) => {
    if (isForeign(response.url())) reached.push(response.url())
  })
  tab.page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    if (isForeign(request.url()) && !/csp|BLOCKED_BY_CSP/i.test(why)) {
      reached.push(`${request.url()} ${why}`)
    }
  })
  await tab.page.goto(url)
  return { tab, reached }
}

describe('a component in the Studio that is hostile', () => {
  async function threadWith(words: string): Promise<string> {
    const { thread_id: id } = await own.client.threads.create({ graphId: 'cards' })
    await own.client.runs.wait(id, 'cards', { input: { messages: words } })
    return `${own.url}/studio/threads/${id}`
  }

  it.each([
    ['throws', 'throws x', /The component failed: it throws/],
    ['has no such name', `<b>none x`, /There is no component of this name/],
    ['loops for ever', 'loops x', /does not answer: it was taken away/],
    ['sends for ever', 'sends x', /does not stop sending: it was taken away/],
    ['leads elsewhere', 'leaves x', /does not answer|could not be loaded|taken away/],
  ])('and %s is a message, and the page goes on', async (_, words, message) => {
    const { tab, reached } = await opened(await threadWith(words))
    await tab.page.getByRole('log').getByText(message).waitFor({ timeout: 30_000 })
    expect(await tab.page.locator('iframe').count()).toBe(0)
    expect(reached).toEqual([])
    // The page answers.
    await tab.page.getByRole('tab', { name: 'State' }).click()
    await tab.page.getByRole('treeitem').first().waitFor()
    await tab.close()
  })

  it('and reaches out by its style reaches nothing', async () => {
    const { tab, reached } = await opened(await threadWith('card x'))
    await tab.page.frameLocator('iframe').getByText('Weather in x').waitFor()
    expect(reached).toEqual([])
    await tab.close()
  })
})
