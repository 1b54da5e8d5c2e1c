/**
 * The React hook of the ecosystem in a real browser, unmodified, with the client that it pins and
 * with the newest one, over both transports.
 */

import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import type { ClientOfPage, PageServer } from './page-server.ts'
import { servePage } from './page-server.ts'
import { hasBrowser, openBrowser, ThreadPage } from './thread-page.ts'
import type { PlaceOfPage } from './thread-page.ts'

if (!hasBrowser) console.log('Skipped: Chromium is not installed.')

const server = useServer({ project: 'conformance' })
const gate = useGates()

const everySide = (['pinned', 'newest'] as const).flatMap((client) =>
  (['sse', 'websocket'] as const).map((transport) => ({ client, transport }))
)
/** By day each client and each transport once. */
const sides = isNight
  ? everySide
  : everySide.filter(({ client, transport }) => (client === 'pinned') === (transport === 'sse'))

describe.skipIf(!hasBrowser).each(sides)('the hook with the $client client over $transport',
  ({ client, transport }) => {
    const tab = useTabs(client, transport)

    /**
     * A tab that has seen the first message of a run, which waits. The run may wait before the
     * state has that message, and a hook opens no stream if it reads a state without next nodes.
     */
    async function heldTab() {
      const page = await tab('held')
      const hold = gate()
      await page.press('send', `hold ${hold.url}`)
      await hold.arrived()
      await expect.poll(() => page.messages()).toEqual([`human: hold ${hold.url}`, 'ai: first'])
      return { page, hold }
    }

    it('makes a thread, and goes on in it', async () => {
      const page = await tab('echo')
      await page.press('send', 'hello')
      await expect.poll(() => page.messages()).toEqual(['human: hello', 'ai: echo: hello'])
      await expect.poll(() => page.field('state')).toBe('idle')
      await page.press('send', 'again')
      await expect.poll(() => page.messages())
        .toEqual(['human: hello', 'ai: echo: hello', 'human: again', 'ai: echo: again'])
      await expect.poll(() => page.field('state')).toBe('idle')
      expect(await page.field('error')).toBe('')
      expect(page.complaints).toEqual([])
    })

    it('shows what a model writes while it writes', async () => {
      const page = await tab('dictated')
      const hold = gate()
      await page.press('send', hold.url)
      await expect.poll(() => page.messages()).toEqual([`human: ${hold.url}`, 'ai: one'])
      expect(await page.field('state')).toBe('running')
      await hold.arrived()
      hold.open()
      await expect.poll(() => page.field('state')).toBe('idle')
      expect(await page.messages()).toEqual([`human: ${hold.url}`, 'ai: one two'])
      expect(await otherAnswers(page, 'ai: one two')).toEqual([])
    })

    it('answers a question', async () => {
      const page = await tab('ask', { key: 'question' })
      await page.press('send', 'tea?')
      await expect.poll(() => page.questions()).toEqual(['{"question":"tea?"}'])
      await expect.poll(() => page.field('state')).toBe('idle')
      await page.press('answer', 'yes')
      await expect.poll(() => page.field('values')).toContain('"answers":["yes","after"]')
      await expect.poll(() => page.questions()).toEqual([])
      await expect.poll(() => page.field('state')).toBe('idle')
    })

    it('leaves, and finds the run again after a reload', async () => {
      const { page, hold } = await heldTab()
      const thread = await page.field('thread')
      await page.press('leave')
      await page.reload(thread)
      await expect.poll(() => page.messages()).toHaveLength(2)
      await expect.poll(() => page.field('state')).toBe('running')
      // The hook goes and comes in the page that stays.
      for (let times = 0; times < 2; times++) await page.press('mount')
      await expect.poll(() => page.messages()).toHaveLength(2)
      await expect.poll(() => page.field('state')).toBe('running')
      hold.open()
      await expect.poll(() => page.messages())
        .toEqual([`human: hold ${hold.url}`, 'ai: first', 'ai: held', 'ai: last'])
      await expect.poll(() => page.field('state')).toBe('idle')
    })

    it('is seen in a second tab', async () => {
      const { page: first, hold } = await heldTab()
      const second = await tab('held', { thread: await first.field('thread') })
      await expect.poll(() => second.messages()).toHaveLength(2)
      hold.open()
      for (const page of [first, second]) {
        await expect.poll(() => page.messages()).toHaveLength(4)
        await expect.poll(() => page.field('state')).toBe('idle')
      }
    })

    it('shows nothing twice of a run that outlives the server', async () => {
      const page = await tab('dictated')
      const hold = gate()
      await page.press('send', hold.url)
      await expect.poll(() => page.messages()).toEqual([`human: ${hold.url}`, 'ai: one'])
      await hold.arrived()
      await server.process.kill('SIGKILL')
      await server.process.restart()
      await hold.arrived(2)
      hold.open()
      await expect.poll(() => page.field('state')).toBe('idle')
      expect(await page.field('error')).toBe('')
      // The pinned client keeps what the first attempt wrote until the page is loaded anew.
      if (client === 'newest') expect(await otherAnswers(page, 'ai: one two')).toEqual([])
      await page.reload(await page.field('thread'))
      await expect.poll(() => page.messages()).toEqual([`human: ${hold.url}`, 'ai: one two'])
    })

    it('stops a run', async () => {
      const { page, hold } = await heldTab()
      await page.press('stop')
      await hold.left()
      await expect.poll(() => page.field('state')).toBe('idle')
      await page.press('send', 'go on')
      await expect.poll(() => page.messages().then((all) => all.at(-1))).toBe('ai: last')
    })

    it('sends the next message while a run goes on', async () => {
      const { page, hold } = await heldTab()
      await page.press('enqueue', 'second')
      hold.open()
      await expect.poll(() => page.messages()).toHaveLength(8)
      await expect.poll(() => page.field('state')).toBe('idle')
      expect((await page.messages())[4]).toBe('human: second')
    })

    it('interrupts the run with the next message', async () => {
      const { page, hold } = await heldTab()
      await page.press('interrupt', 'second')
      await hold.left()
      await expect.poll(() => page.messages().then((all) => all.slice(-4)))
        .toEqual(['human: second', 'ai: first', 'ai: held', 'ai: last'])
      await expect.poll(() => page.field('state')).toBe('idle')
    })

    it('shows an error, and goes on after it', async () => {
      const page = await tab('failing', { key: 'topic' })
      await page.press('send', 'storm')
      await expect.poll(() => page.field('error')).toContain('storm')
      await expect.poll(() => page.field('state')).toBe('idle')
      await page.press('send', 'calm')
      await expect.poll(() => page.field('values')).toContain('"boom"')
      await expect.poll(() => page.field('error')).toBe('')
    })

    it('shows a subgraph', async () => {
      const page = await tab('nested', { key: 'topic' })
      await page.press('send', 'tea')
      await expect.poll(() => page.field('subgraphs')).toBe('sub')
      // The subgraph hands on the log that it was given, with its own entry.
      await expect.poll(() => page.field('values')).toContain('"log":["outer","outer","deep"]')
      await expect.poll(() => page.field('state')).toBe('idle')
    })

    it('answers a question of a subgraph', async () => {
      const page = await tab('nestedask', { key: 'topic' })
      await page.press('send', 'tea')
      await expect.poll(() => page.questions()).toEqual(['"tea?"'])
      await expect.poll(() => page.field('state')).toBe('idle')
      await page.press('answer', 'yes')
      await expect.poll(() => page.field('values')).toContain('"answer yes","after"')
      await expect.poll(() => page.questions()).toEqual([])
    })

    // The pinned client has no strict answers.
    describe.skipIf(client === 'pinned')('with strict answers', () => {
      it('takes one of two that come at once', async () => {
        const first = await tab('ask', { key: 'question' })
        await first.press('send', 'tea?')
        await expect.poll(() => first.questions()).toHaveLength(1)
        await expect.poll(() => first.field('state')).toBe('idle')
        const thread = await first.field('thread')
        const second = await tab('ask', { key: 'question', thread })
        await expect.poll(() => second.questions()).toHaveLength(1)
        await expect.poll(() => second.commands).toContain('subscription.subscribe')
        // Neither tab can learn of the answer of the other before its own is sent.
        await withStoppedServer(async () => {
          for (const page of [first, second]) await page.press('answer strictly', 'yes')
          for (const page of [first, second]) {
            await expect.poll(() => page.commands).toContain('input.respond')
          }
        })
        await expect.poll(() => endsOf(thread)).toEqual(['error', 'success', 'success'])
        for (const page of [first, second]) {
          await expect.poll(() => page.field('values')).toContain('"answers":["yes","after"]')
          await expect.poll(() => page.questions()).toEqual([])
          await expect.poll(() => page.field('state')).toBe('idle')
          expect(await page.fault('answer strictly')).toBe('')
        }
      })

      it('shows that one was refused', async () => {
        const page = await tab('ask', { key: 'question' })
        await page.press('send', 'tea?')
        await expect.poll(() => page.questions()).toHaveLength(1)
        await expect.poll(() => page.field('state')).toBe('idle')
        // An answer that names no interrupt: the page does not know that its question is answered.
        const thread = await page.field('thread')
        await server.client.runs.wait(thread, 'ask', { command: { resume: 'no' } })
        await expect.poll(() => page.field('values')).toContain('"answers":["no","after"]')
        await expect.poll(() => page.field('state')).toBe('idle')
        await page.press('answer strictly', 'yes')
        await expect.poll(() => page.field('error')).toMatch(/^UnknownInterruptError: /)
        await expect.poll(() => page.questions()).toEqual([])
        await expect.poll(() => page.field('state')).toBe('idle')
        expect(await page.field('values')).toContain('"answers":["no","after"]')
      })
    })
  })

/** What the act sends reaches the server together. */
async function withStoppedServer(act: () => Promise<void>): Promise<void> {
  const { pid } = server.process
  process.kill(pid, 'SIGSTOP')
  try {
    await act()
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

/** What the page has ever shown after the first message that is no beginning of the answer. */
async function otherAnswers(page: ThreadPage, answer: string): Promise<string[]> {
  const shown = await page.shownMessages()
  return shown.map(([, ...answers]) => answers.join()).filter((text) => !answer.startsWith(text))
}

/** How the runs of a thread stand, sorted. */
async function endsOf(thread: string): Promise<string[]> {
  const runs = await server.client.runs.list(thread)
  return runs.map(({ status }) => status).sort()
}

/**
 * Opens tabs of one build of the page, which are closed after each test: a browser has six
 * connections to a host over HTTP/1.1, and a tab that follows a thread over SSE holds two.
 */
function useTabs(client: ClientOfPage, transport: PlaceOfPage['transport']) {
  let browser: Browser | undefined
  let context: BrowserContext | undefined
  let page: PageServer | undefined
  beforeAll(async () => {
    page = await servePage(client)
    browser = await openBrowser()
  })
  beforeEach(async () => {
    context = await browser!.newContext()
    context.setDefaultTimeout(30_000)
  })
  afterEach(() => context?.close())
  afterAll(async () => {
    await browser?.close()
    page?.close()
  })
  return (assistant: string, more: Partial<PlaceOfPage> = {}) =>
    ThreadPage.open(context!, { page: page!.url, server: server.url, assistant, transport,
      ...more })
}
