/** Somebody types without looking: on no screen a single key starts, sends, deletes or approves. */

import { beforeAll, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { useBrowser } from './support/tab.ts'

// Of its own: on a shared one, other threads would wait in the inbox.
const server = useServer({ args: oneWorker })
const browser = useBrowser()

/** Reads that need a body. */
const reads = new RegExp([
  'search',
  'count',
  'history',
  'query',
  'stats',
  'group',
  'values',
  'versions',
  'namespaces',
  'facets',
  'preview',
  String.raw`charts/section/[\w-]+`,
].map((end) => `/${end}$`).join('|'))

/** Printable keys that are the same in each run of the tests. */
function keys(seed: number, count: number): string {
  let state = seed
  return Array.from({ length: count }, () => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223 >>> 0
    return String.fromCharCode(32 + state % 95)
  }).join('')
}

const places = { idle: '', waiting: '' }
beforeAll(async () => {
  const threads = { idle: await server.client.threads.create({ graphId: 'echo' }),
    waiting: await server.client.threads.create({ graphId: 'askany' }) }
  places.idle = threads.idle.thread_id
  places.waiting = threads.waiting.thread_id
  await server.client.runs.wait(places.idle, 'echo', { input: say('hello') })
  await server.client.runs.wait(places.waiting, 'askany', { input: { question: {
    actionRequests: [{ name: 'publish', args: {}, description: 'Publish it?' }],
    reviewConfigs: [{ actionName: 'publish', allowedDecisions: ['approve', 'reject'] }],
  } } })
})

/** Where something can be started, sent, deleted or approved. */
const screens = ['threads/idle', 'threads/waiting', 'inbox', 'playground', 'rules', 'datasets']
const others = ['threads', 'threads/idle?view=state', 'threads/idle?view=events',
  'threads/idle?view=runs', 'threads/idle?view=trace', 'assistants', 'runs', 'traces', 'prompts',
  'queues', 'charts', 'deployments', 'cluster', 'limits', 'crons', 'store', 'prices', 'nowhere']

it.each([...screens, ...isNight ? others : []])(
  'typed on %s, 200 keys change nothing',
  async (screen) => {
    const path = screen.replace(/idle|waiting/, (name) => places[name as 'idle' | 'waiting'])
    const tab = await browser.open(`${server.url}/studio/${path}`, { expected: /./ })
    const { page } = tab
    await page.getByRole('main').getByRole('heading').first().waitFor()
    if (screen === 'threads/idle') {
      await page.getByRole('textbox', { name: 'Message' }).waitFor()
    }
    if (screen === 'threads/waiting' || screen === 'inbox') {
      await page.getByRole('button', { name: 'Approve' }).waitFor()
    }
    const changes: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      const isRead = request.method() === 'GET' ||
        (request.method() === 'POST' && reads.test(pathname))
      if (!isRead) changes.push(`${request.method()} ${pathname}`)
    })
    const typed = keys(screen.length, 200)
    await page.keyboard.type(typed)
    if (screen === 'threads/idle') {
      expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe(typed)
    }
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))')
    expect(changes).toEqual([])
    await tab.close()
  },
)
