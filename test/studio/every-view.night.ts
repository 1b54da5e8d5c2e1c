/**
 * Every view as it looks by day and by night, on a wide screen, on a small one and on a phone: fit
 * for all readers, within the window, and without a complaint of the browser.
 */

import { beforeAll, expect, it } from 'vitest'

import { oneWorker } from '../support/server-process.ts'
import { useServer } from '../support/server.ts'
import { furnish } from './support/furnished.ts'
import { setup as buildStudio } from './support/setup.ts'
import { fillShop, line, useShop } from './support/shop.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

beforeAll(buildStudio)
// What others made would stand before what is looked for.
const server = useServer({ args: oneWorker })
const shop = useShop(server)
const browser = useBrowser()

/** The address of a view, and words that it has when it is read. */
let views: readonly (readonly [address: string, words: string | RegExp])[]

beforeAll(async () => {
  fillShop(shop.control)
  shop.control.write(line('order 7 was looked up'))
  const made = await furnish(server)
  const of = (address: string, search: string) =>
    `${address}${address.includes('?') ? '&' : '?'}${search}`
  views = [
    ['threads', 'again'],
    ['inbox', 'Which one?'],
    [made.chat, 'again'],
    [of(made.chat, 'view=state'), 'messages'],
    [of(made.chat, 'view=events'), /event/i],
    [of(made.chat, 'view=runs'), 'Done'],
    [of(made.chat, 'view=trace'), 'echo'],
    [of(made.chat, 'alone=graph'), 'echo'],
    [`${made.chat}${made.past}`, 'What you send now starts a branch here.'],
    [of(`${made.chat}${made.compared}`, 'view=state'), 'messages'],
    [made.failed, 'TypeError'],
    [made.asking, 'Which one?'],
    ['runs', 'failing'],
    [made.assistant, 'configured'],
    ['assistants?act=new', 'Description'],
    ['crons', 'Monday to Friday'],
    ['crons?edit=new', 'Schedule'],
    ['store', 'food'],
    ['traces', 'furnished'],
    [made.project, 'support agent'],
    [of(made.project, 'charts=on'), 'support agent'],
    [of(made.project, 'list=calls'), 'ChatModel'],
    [of(made.project, 'list=conversations'), /conversation/i],
    [made.trace, 'geocode'],
    [of(made.trace, 'slow=on&pane=span'), 'support agent'],
    [made.pair, 'support agent'],
    [made.shared, 'support agent'],
    ['datasets', 'rivers'],
    [made.dataset, 'Which river is no. 0?'],
    [of(made.dataset, 'view=experiments'), 'large'],
    [made.experiments, 'Which river is no. 0?'],
    [of(made.experiments, 'rows=tall&diff=reference'), 'Which river is no. 0?'],
    ['prompts', 'explain'],
    [made.prompt, 'You teach weaving.'],
    ['playground', 'Add a model'],
    ['queues', 'Failures'],
    [made.queue, '1 run left'],
    ['rules', 'Failures before people'],
    [made.rule, 'Failures before people'],
    ['charts', 'Support'],
    [made.dashboard, 'Traces'],
    ['prices', 'gpt-4.1-mini'],
    ['cluster', /shard/i],
    ['limits', /limit/i],
    ['deployments', 'support'],
    ['deployments/shop', 'Look up orders by mail'],
    ['deployments/shop?view=logs', 'order 7 was looked up'],
    ['deployments/shop?view=logs&q=order&span=range', 'order 7 was looked up'],
    ['deployments/shop?view=secrets', 'MODEL_URL'],
    ['deployments/shop?view=events', 'Nothing'],
    ['nowhere', /no such page|not found/i],
  ]
})

const looks = [1_440, 1_024, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colours) => ({ colours, width }))
)

it.each(looks)('in $colours colours at $width pixels', async ({ colours, width }) => {
  const tab = await browser.open(`${shop.control.url}/ok`, { colours, width, height: 900,
    reducedMotion: true, expected: /status of 404/ })
  const { page } = tab
  const faults: string[] = []
  for (const [address, words] of views) {
    await page.goto(`${shop.control.url}/studio/${address}`)
    await page.getByText(words).filter({ visible: true }).first().waitFor()
      .catch((error: Error) => faults.push(`${address}: ${error.message.split('\n')[0]}`))
    await expect.poll(() => page.locator('[aria-busy=true]').count(), { timeout: 10_000 }).toBe(0)
    faults.push(...(await tab.violations()).map((fault) => `${address}: ${fault}`))
    const pageWidth = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (pageWidth !== width) faults.push(`${address}: is ${pageWidth} pixels wide`)
  }
  expect(faults).toEqual([])
  expectQuiet(tab)
  await tab.close()
})
