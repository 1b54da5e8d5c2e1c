/** Every screen, by day and by night, wide and on a phone, is fit for all readers. */

import { beforeAll, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { furnishThreads } from './support/furnished.ts'
import { looks } from './support/looks.ts'
import { sendSpans, projectId, supportTrace } from './support/sent-traces.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

/** What others made would stand before what is looked for. */
const server = useServer({ args: oneWorker })
const browser = useBrowser()

/** A page of the API has no icon. */
const noIcon = /status of 404/

/** What each screen has when it is read. */
type Screen = readonly [address: string, ready: (page: Tab['page']) => Promise<unknown>]
let screens: readonly Screen[]

beforeAll(async () => {
  const { chat, past, asking, assistant } = await furnishThreads(server)
  const spans = supportTrace({ project: 'access', beganMs: Date.now(), words: 'Where is it?',
    error: 'TimeoutError: no answer' })
  await sendSpans(server.url, spans)
  const project = await projectId(server.url, 'access')
  const share = await fetch(`${server.url}/api/v1/runs/${spans[0]!.id}/share`, { method: 'PUT',
    headers: { 'content-type': 'application/json' }, body: '{}' })
  const { share_token: link } = await share.json() as { readonly share_token: string }
  const text = (words: string): Screen[1] => (page) =>
    page.getByRole('main').getByText(words).filter({ visible: true }).first().waitFor()
  screens = [
    ['threads', text('again')],
    ['inbox', text('Which one?')],
    ['runs', (page) => page.getByRole('row').filter({ hasText: 'failing' }).first().waitFor()],
    [assistant, text('configured')],
    ['crons', text('No crons yet')],
    ['crons?edit=new', (page) => page.getByRole('dialog').getByLabel('Schedule').waitFor()],
    ['store', text('No items here')],
    ['assistants?act=new', (page) => page.getByRole('dialog').getByLabel('Description').waitFor()],
    [`${chat}${past}`, text('What you send now starts a branch here.')],
    [asking, text('Which one?')],
    [`traces/${project}`, text('support agent')],
    [`traces/${project}/${spans[0]!.id}`, text('support agent')],
    [`public/${link}`, text('support agent')],
    ['nowhere', (page) => page.getByRole('main').waitFor()],
  ]
})

it.each(looks)(
  'in $colours colours at $width pixels',
  async ({ colours, width }) => {
    const tab = await browser.open(`${server.url}/ok`, { colours, width, expected: noIcon })
    const { page } = tab
    for (const [address, ready] of screens) {
      await page.goto(`${server.url}/studio/${address}`)
      await ready(page).catch((error: Error) => {
        throw new Error(`${address} does not show what it should: ${error.message}`)
      })
      expect(await tab.violations(), address).toEqual([])
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), {
        message: address,
      }).toBe(width)
    }
    expectQuiet(tab)
    await tab.close()
  },
)
