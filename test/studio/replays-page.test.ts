/** Replays of a deployment in the Studio: from its page to what differs in one run. */

import { beforeEach, expect, it } from 'vitest'

import type { ControlVerdict } from '../../src/api/index.ts'
import { FakeReplays, runVerdict } from '../support/fake-replays.ts'
import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { fillShop, useShop } from './support/shop.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const server = useServer()
const shop = useShop(server)
const browser = useBrowser()
let replays: FakeReplays

const pageUrl = (path = '') => `${shop.control.url}/studio/deployments/shop${path}`

/** What code of a project may write into its calls and errors. */
const hostile = '<img src=x onerror="document.title=1"> \u202e &amp; ' + 'x'.repeat(600)

const model = 'https://models.example.org/v1/chat/completions'

/** A run whose prompt is another one. */
const prompted = (number: number, change: Partial<ControlVerdict> = {}) =>
  runVerdict(number, { verdict: 'diverged', step: 3, node: 'research/plan', group: 'prompt',
    reason: `Other call: POST ${model}`, calls: 2,
    recorded: { site: { step: 3, nodes: ['research', 'plan'] }, method: 'POST', url: model,
      text: '…"content":"Answer in short."…' },
    asked: { site: { step: 3, nodes: ['research', 'plan'] }, method: 'POST', url: model,
      text: '…"content":"Answer in detail."…' }, ...change })

const charge = 'https://api.example.org/v1/charges'

/** Runs of a replay that found something of each kind. */
const runs: readonly ControlVerdict[] = [
  ...Array.from({ length: 9 }, (_, at) => runVerdict(at + 1)),
  prompted(10),
  prompted(11),
  runVerdict(12, { verdict: 'diverged', step: 5, node: 'pay', group: 'charge', graph_id: 'desk',
    reason: `New call: POST ${charge}`,
    asked: { site: { step: 5, nodes: ['pay'] }, method: 'POST', url: charge,
      text: '{"amount":2000}' } }),
  runVerdict(13, { verdict: 'same_result', step: 2, node: 'policy', group: 'less', calls: 3,
    reason: '1 call less.',
    missing: [{ site: { step: 2, nodes: ['policy'] }, method: 'GET',
      url: 'https://policy.example.org/7', text: '' }] }),
  runVerdict(14, { verdict: 'failed', step: null, node: null, group: 'hostile', reason: hostile,
    graph_id: hostile.slice(0, 200) }),
  runVerdict(15, { verdict: 'not_replayable', group: 'gone', stateless: true, graph_id: '',
    recorded_revision: '', reason: 'Its thread was removed.' }),
]

beforeEach(() => {
  fillShop(shop.control)
  shop.control.refusal = undefined
  replays = new FakeReplays()
  const found = shop.control.deployments.get('shop')!
  shop.control.deployments.set('shop', { ...found, replays })
})

const rowsOf = ({ page }: Tab) =>
  page.getByRole('table', { name: 'Runs, those that differ first' }).locator('tbody tr')

async function expectNoOverflow({ page }: Tab): Promise<void> {
  await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'))
    .toBe(page.viewportSize()!.width)
  // What is wider than the page would scroll in it.
  expect(await page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
    document.querySelector('.page'))`)).toBe(0)
}

it('leads from a deployment to what one run asks otherwise, and to the recorded run', async () => {
  const { thread_id: thread } = await server.client.threads.create({ graphId: 'echo' })
  await server.client.runs.wait(thread, 'echo', { input: {} })
  const [run] = await server.client.runs.list(thread)
  const { replay: { id } } = replays.add({ runs: 16 }, [...runs,
    prompted(16, { thread_id: thread, run_id: run!.run_id })])
  const tab = await browser.open(pageUrl())
  const { page } = tab
  await page.getByRole('tab', { name: 'Replays' }).click()
  const row = page.getByRole('row', { name: /^r13/ })
  await row.getByRole('img', { name: /^Verdicts: 9 same, 1 same result, 4 diverged/ }).waitFor()
  await row.getByText('Done').waitFor()
  await row.getByText('by mira').waitFor()
  // What happens to the deployment changes nothing of a replay that is over.
  const asked = () => shop.control.got('GET', `/replays/${id}`).length
  const before = asked()
  shop.control.change('shop', { active: 'r13', previous: 'r12' }, 'pointer')
  await page.locator('dl').getByText('r13', { exact: true }).waitFor()
  expect(asked()).toBe(before)
  await row.getByRole('link', { name: 'r13' }).click()

  await page.getByRole('heading', { level: 1, name: 'Replay on r13' }).waitFor()
  // Those that differ come before those that do not.
  await expect.poll(() => rowsOf(tab).first().innerText()).toContain('diverged')
  expect(await rowsOf(tab).count()).toBe(16)
  const group = page.getByRole('button', { name: /step 3, research\/plan/ })
  await group.getByText('3 runs').waitFor()
  await group.getByText(`POST ${model}`).first().waitFor()
  await group.click()
  await expect.poll(() => rowsOf(tab).count()).toBe(3)
  // The filter is in the address.
  await page.reload()
  await expect.poll(() => rowsOf(tab).count()).toBe(3)

  await rowsOf(tab).filter({ hasText: run!.run_id.slice(-8) })
    .getByRole('link', { name: /^Difference/ }).click()
  await page.getByRole('region', { name: 'Recorded' }).getByText('short').waitFor()
  const next = page.getByRole('region', { name: 'On r13' })
  await next.getByText('detail').waitFor()
  expect(await next.getByRole('insertion').innerText()).toContain('detail')
  expect(await page.getByRole('deletion').allInnerTexts()).toEqual([expect.stringContaining(
    'short',
  )])
  expect(await page.getByRole('link', { name: 'Open as thread' }).getAttribute('href'))
    .toMatch(new RegExp(`/d/shop/threads/${thread}\\?view=runs&run=${run!.run_id}&ask=copy$`))
  await page.getByRole('button', { name: 'All runs' }).click()
  await expect.poll(() => rowsOf(tab).count()).toBe(3)
  await rowsOf(tab).filter({ hasText: run!.run_id.slice(-8) })
    .getByRole('link', { name: 'agent' }).click()
  await page.waitForURL(`**/studio/d/shop/threads/${thread}?view=runs&run=${run!.run_id}`)
  expectQuiet(tab)
  await tab.close()
})

it('shows the runs of one verdict, calls that are missing, and a call that is new', async () => {
  replays.usage = { recorded: { tokens: 1_920_412, cost: 4.1 },
    replayed: { tokens: 1_330_020, cost: 2.85 }, is_at_least: true }
  const { replay: { id } } = replays.add({ passed: 40,
    experiment: '0197aaaa-0000-4000-8000-00000000000e' }, runs)
  const tab = await browser.open(pageUrl(`/replays/${id}`))
  const { page } = tab
  const verdicts = page.getByRole('group', { name: 'Verdicts' })
  await verdicts.getByRole('button', { name: 'same result 1' }).click()
  await expect.poll(() => rowsOf(tab).count()).toBe(1)
  await page.getByText('40 passed over').waitFor()
  await page.getByText('1,920,412 → at least 1,330,020').waitFor()
  expect(await page.getByRole('link', { name: 'Experiment' }).getAttribute('href'))
    .toContain('/studio/d/shop/traces/0197aaaa-0000-4000-8000-00000000000e')
  await rowsOf(tab).getByRole('link', { name: /^Difference/ }).click()
  await page.getByText('step 2, policy: GET https://policy.example.org/7').waitFor()
  await page.goBack()
  await verdicts.getByRole('button', { name: 'same result' }).click()
  await expect.poll(() => rowsOf(tab).count()).toBe(15)
  // The thread of a stateless run ended with it.
  const links = rowsOf(tab).filter({ hasText: 'not known' }).getByRole('link')
  expect(await links.allInnerTexts()).toEqual([expect.stringContaining('Difference')])
  await page.getByRole('button', { name: /step 5, pay/ }).click()
  await rowsOf(tab).getByRole('link', { name: /^Difference/ }).click()
  await page.getByRole('region', { name: 'Recorded' }).getByText('No recorded call is like it.')
    .waitFor()
  await page.getByRole('region', { name: 'On r13' }).getByText('{"amount":2000}').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('starts a replay in two clicks, shows how far it is, and ends it', async () => {
  const tab = await browser.open(pageUrl())
  const { page } = tab
  await page.getByRole('tab', { name: 'Replays' }).click()
  await page.getByRole('heading', { name: 'No replays yet' }).waitFor()
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Replay recorded runs' })
  // The newest revision that is not active is offered.
  await expect.poll(() => dialog.getByLabel('Revision to try').inputValue()).toBe('r13')
  expect(await dialog.getByLabel('Revision to try').getByRole('option').allInnerTexts())
    .toEqual(['r13', 'r12, active', 'r11'])
  await dialog.getByLabel('Graph').selectOption('agent')
  await dialog.getByLabel('Runs since').selectOption('Last 7 days')
  await dialog.getByLabel('Runs at most').fill('20')
  await dialog.getByLabel('Seconds for one run').fill('5')
  await dialog.getByLabel('Replay the recorded revision first').uncheck()
  expect(await tab.violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('heading', { level: 1, name: 'Replay on r13' }).waitFor()
  expect(shop.control.got('POST', '/shop/replays').at(-1)!.body).toEqual({ revision: 'r13',
    graph_id: 'agent', since_s: 604_800, sample: 20, run_s: 5, control: false })

  await page.getByText('Chooses the runs').waitFor()
  const id = new URL(page.url()).pathname.split('/').at(-1)!
  replays.change(id, { runs: 20 }, runs.slice(8, 11))
  await page.getByText('3 of 20 runs').waitFor()
  expect(await page.getByRole('progressbar', { name: 'Progress of the replay' })
    .getAttribute('value')).toBe('3')
  await expect.poll(() => rowsOf(tab).count()).toBe(3)
  await page.getByRole('link', { name: 'Replays of shop' }).click()
  const row = page.getByRole('row', { name: /^r13/ })
  await row.getByText('3 of 20 runs').waitFor()
  // There is one at a time.
  expect(await page.getByRole('button', { name: 'Replay', exact: true }).isDisabled()).toBe(true)
  await row.getByRole('button', { name: 'Cancel' }).click()
  await row.getByText('Cancelled').waitFor()
  await row.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('button', { name: 'Replay', exact: true }).isDisabled())
    .toBe(false)
  expectQuiet(tab)
  await tab.close()
})

it('is one click from a revision, and has the words of a server that refuses it', async () => {
  const tab = await browser.open(pageUrl('?revision=r11'), { expected: /status of (403|409)/ })
  const { page } = tab
  await page.getByRole('link', { name: 'Replay runs on it' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replay recorded runs' })
  await expect.poll(() => dialog.getByLabel('Revision to try').inputValue()).toBe('r11')
  shop.control.refusal = { status: 409, code: 'busy', message: 'A replay is under way.' }
  await dialog.getByRole('button', { name: 'Start' }).click()
  await dialog.getByText('A replay is under way.').waitFor()
  shop.control.refusal = { status: 403, code: 'forbidden', message: 'Only a key that deploys may.' }
  await page.goto(pageUrl('/replays/0197aaaa-0000-4000-8000-000000000001'))
  await page.getByText(/^Replays are shown to keys with the role admin or deployer/).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('says why there is nothing to see', async () => {
  const { replay: { id: none } } = replays.add({ runs: 0, passed: 1_200 })
  const { replay: { id: broken } } = replays.add({ runs: 3, phase: 'failed',
    reason: 'Its member ended, and another replay was begun.' })
  const tab = await browser.open(pageUrl(`/replays/${none}`), { expected: /status of 404/ })
  const { page } = tab
  await page.getByText('1,200 were looked at.').waitFor()
  await page.goto(pageUrl(`/replays/${broken}`))
  await page.getByRole('alert').getByText('another replay was begun').waitFor()
  await page.getByText('0 of 3 runs').waitFor()
  await page.goto(pageUrl('/replays/0197aaaa-0000-4000-8000-0000000000ff'))
  await page.getByText('There is no such replay.').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('looks well, and shows texts of code as texts', async () => {
  const { replay: { id } } = replays.add({}, runs)
  replays.add({ phase: 'running', runs: 40 }, runs.slice(0, 12))
  await expectGoodLooks(browser, pageUrl('?view=replays'), async (tab) => {
    const { page } = tab
    const good = async (where: string) => {
      expect(await tab.violations(), where).toEqual([])
      await expectNoOverflow(tab)
    }
    await page.goto(pageUrl('?view=replays'))
    await page.getByRole('img', { name: /^Verdicts/ }).first().waitFor()
    await good('list')
    await page.goto(pageUrl(`/replays/${id}`))
    await rowsOf(tab).first().waitFor()
    await rowsOf(tab).filter({ hasText: '<img src=x' }).first().waitFor()
    await good('replay')
    await page.getByRole('button', { name: /research\/plan/ }).click()
    await expect.poll(() => rowsOf(tab).count()).toBe(2)
    await good('group')
    await page.goto(pageUrl(`/replays/${id}?run=${runs[13]!.run_id}`))
    await page.getByRole('region', { name: 'Difference of the run' }).getByText('<img src=x')
      .first().waitFor()
    await good('text')
    expect(await page.title()).not.toBe('1')
    await expectNoOverflow(tab)
    await page.goto(pageUrl(`/replays/${id}?run=${runs[9]!.run_id}`))
    await page.getByRole('region', { name: 'Recorded' }).waitFor()
    await expectNoOverflow(tab)
  })
})
