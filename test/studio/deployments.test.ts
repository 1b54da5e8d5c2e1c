/** Deployments in the Studio: the list, a roll-out as it goes, and what may be done. */

import { beforeEach, expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useServer } from '../support/server.ts'
import { expectGoodLooks } from './support/looks.ts'
import { deployment, fillShop, line, members, refused, rollout, useShop } from './support/shop.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'
import { expectNothingCutOff, zoomed } from './support/zoomed.ts'

const server = useServer()
const shop = useShop(server)
const browser = useBrowser()

const pageUrl = (path = '') => `${shop.control.url}/studio/deployments${path}`

beforeEach(() => fillShop(shop.control))

const dialogIn = ({ page }: Tab, name: string) => page.getByRole('dialog', { name })
const mainOf = ({ page }: Tab) => page.getByRole('main')

it.runIf(isNight)('looks well: the list, a roll-out, dialogs, a revision, logs, secrets, events',
  async () => {
    const { control } = shop
    control.write(line('order 7 was looked up', { level: 'warn' }))
    control.note('pointer', { active: 'r12', previous: 'r11' })
    await expectGoodLooks(browser, pageUrl(), async (tab) => {
      const { page, violations } = tab
      const good = async (where: string) => {
        expect(await violations(), where).toEqual([])
        await expect.poll(() => page.evaluate('document.documentElement.scrollWidth'), {
          message: where,
        }).toBe(page.viewportSize()!.width)
      }
      control.change('shop', { rollout: null }, 'rollout')
      await page.goto(pageUrl())
      await page.getByRole('rowheader', { name: /^support/ }).waitFor()
      await good('list')
      await page.goto(pageUrl('/support'))
      await page.getByRole('heading', { name: 'r13 was refused' }).waitFor()
      await good('refused')
      await page.goto(pageUrl('/shop'))
      for (const [button, title] of [['Roll out r13', 'Roll out r13?'], ['Roll back',
        'Roll shop back?'], ['Remove the deployment', 'Remove this deployment?']] as const) {
        await page.getByRole('button', { name: button, exact: true }).click()
        await dialogIn(tab, title).waitFor()
        await good(title)
        await page.keyboard.press('Escape')
        await dialogIn(tab, title).waitFor({ state: 'detached' })
      }
      control.change('shop', { rollout: rollout('confirming', 'confirmed', 'ready', 'waiting') },
        'rollout')
      await page.getByRole('region', { name: 'Roll-out that is under way' }).waitFor()
      await good('roll-out')
      await page.goto(pageUrl('/shop?revision=r10'))
      await dialogIn(tab, 'Revision r10').getByText('src/agent.ts:14').waitFor()
      await good('revision')
      await page.goto(pageUrl('/shop?view=logs'))
      await page.getByRole('grid').getByText('order 7 was looked up').first().click()
      await page.getByRole('region', { name: 'Line of the log' }).waitFor()
      await good('logs')
      await page.goto(pageUrl('/shop?view=secrets'))
      await page.getByRole('button', { name: 'Set a secret' }).click()
      await dialogIn(tab, 'Set a secret').waitFor()
      await good('secrets')
      await page.goto(pageUrl('/shop?view=events'))
      await page.getByRole('row', { name: /r12 is active/ }).first().click()
      await page.getByRole('region', { name: /^Active, no\. / }).waitFor()
    })
  }, 120_000)

it('lists deployments: addresses, what is active, roll-outs, previews and pauses', async () => {
  const tab = await browser.open(pageUrl())
  const { page } = tab
  await page.getByText('3 deployments').waitFor()
  const row = (name: RegExp) => page.getByRole('row', { name })
  await row(/^support/).getByText('Paused').waitFor()
  await row(/^support/).getByText('r13 was refused').waitFor()
  await row(/^support/).getByText('every tenant’s').waitFor()
  await row(/^shop--colours/).getByText('Preview of shop').waitFor()
  await row(/^shop /).getByText('https://shop.agents.example.org').waitFor()
  await row(/^shop /).getByRole('button', { name: 'Copy the address of shop' }).waitFor()
  await row(/^shop /).getByRole('link', { name: 'shop', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('shows a roll-out as it goes, through a cut connection and a reload', async () => {
  const { control } = shop
  const streams = () => control.got('GET', '/events').length
  const before = streams()
  const tab = await browser.open(pageUrl('/shop'), { expected: /ERR_/ })
  const { page } = tab
  const status = page.getByRole('region', { name: 'Roll-out that is under way' })
  await page.getByRole('heading', { name: 'r12 became active' }).waitFor()
  await expect.poll(streams).toBe(before + 1)
  control.change('shop', { rollout: rollout('preparing', 'waiting', 'waiting', 'waiting') },
    'rollout')
  await status.getByText('0 of 3 members loaded it').waitFor()
  control.change('shop', { rollout: rollout('preparing', 'ready', 'ready', 'waiting') }, 'member')
  await status.getByText('2 of 3 members loaded it').waitFor()
  await status.getByText('820 ms').waitFor()

  // What happens while there is no connection is seen when it is back, and nothing comes twice.
  const newest = control.newest
  control.cut()
  await expect.poll(streams).toBe(before + 2)
  expect(control.got('GET', '/events').at(-1)!.headers['last-event-id']).toBe(String(newest))
  control.change('shop', { rollout: rollout('confirming', 'confirmed', 'ready', 'ready') },
    'member')
  await status.getByText('1 of 3 members switched').waitFor()
  const drained = control.newest
  control.drain()
  await expect.poll(streams).toBe(before + 3)
  expect(control.got('GET', '/events').at(-1)!.headers['last-event-id']).toBe(String(drained))
  await page.reload()
  await status.getByText('1 of 3 members switched').waitFor()
  control.change('shop', { rollout: rollout('watching', 'confirmed', 'confirmed', 'confirmed'),
    active: 'r13', previous: 'r12' }, 'pointer')
  await status.getByText('Ended runs are watched').waitFor()
  await page.getByRole('row', { name: /^r13 Active/ }).waitFor()

  control.change('shop', { rollout: null, active: 'r12',
    last_rollout: { ...refused, result: 'rolled_back', reason: 'Half of 40 runs failed on r13.',
      members: members('confirmed'), failures: [] } }, 'rollout')
  await page.getByRole('heading', { name: 'r13 was taken back to r12' }).waitFor()
  await page.getByText('Half of 40 runs failed on r13.').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('says what a revision changes, and gives it a share of new runs', async () => {
  const { control } = shop
  const tab = await browser.open(pageUrl('/shop'), { expected: /status of (409|422)/ })
  const { page } = tab
  await page.getByRole('button', { name: 'Roll out r13' }).click()
  const dialog = dialogIn(tab, 'Roll out r13?')
  await dialog.getByRole('button', { name: 'What changes?' }).click()
  await dialog.getByText(/^It has no node ask of agent any more: 3 threads wait there/).waitFor()
  await dialog.getByText('No secret is set for MAIL_KEY.').waitFor()
  await dialog.getByLabel('New runs that take it').selectOption('10 %')
  await dialog.getByLabel('Why').fill('Try it')

  control.refusal = { status: 409, code: 'stale', message: 'r14 is active by now.' }
  await dialog.getByRole('button', { name: 'Roll out', exact: true }).click()
  await dialog.getByText('r14 is active by now.').waitFor()
  control.refusal = { status: 422, code: 'graph_failed', message: 'A graph cannot be loaded.',
    graphs: refused.failures }
  await dialog.getByRole('button', { name: 'Roll out', exact: true }).click()
  await dialog.getByRole('listitem').getByText('src/agent.ts:14').waitFor()
  control.refusal = undefined
  await dialog.getByRole('button', { name: 'Roll out', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const call = control.got('POST', '/deployments/shop/revisions/r13/activate').at(-1)!
  expect(call.body).toEqual({ percent: 10, expect: 'r12', message: 'Try it' })
  expect(call.headers['prefer']).toBe('respond-async')
  expectQuiet(tab)
  await tab.close()
})

it('rolls back by keys after it said that only code goes back, and pauses', async () => {
  const { control } = shop
  const tab = await browser.open(pageUrl('/shop'))
  const { page } = tab
  await page.getByRole('button', { name: 'Roll back' }).focus()
  await page.keyboard.press('Enter')
  const dialog = dialogIn(tab, 'Roll shop back?')
  await dialog.getByText('secrets and data stay as they are now').waitFor()
  await dialog.getByLabel('Why').fill('Wrong prices')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(control.got('POST', '/shop/rollback').at(-1)!.body)
    .toEqual({ to: 'r11', message: 'Wrong prices' })
  await page.getByRole('button', { name: 'Pause' }).click()
  await mainOf(tab).getByText('Paused', { exact: true }).waitFor()
  expect(control.got('PATCH', '/shop').at(-1)!.body).toEqual({ paused: true })
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  // While a roll-out is under way there is nothing to go back from.
  control.change('shop', { rollout: rollout('preparing', 'waiting') }, 'rollout')
  await expect.poll(() => page.getByRole('button', { name: 'Roll back' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: /^Roll out/ }).count()).toBe(0)
  expectQuiet(tab)
  await tab.close()
})

it('removes a deployment only for its name', async () => {
  const { control } = shop
  control.deployments.set('old', { record: deployment('old'), revisions: [], secrets: [] })
  const tab = await browser.open(pageUrl('/old'), { expected: /status of 404/ })
  const { page } = tab
  await page.getByRole('button', { name: 'Remove the deployment' }).click()
  const dialog = dialogIn(tab, 'Remove this deployment?')
  const remove = dialog.getByRole('button', { name: 'Remove it with its data' })
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByLabel('Type the name of the deployment').fill('ol')
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByLabel('Type the name of the deployment').fill('old')
  await remove.click()
  await page.waitForURL('**/studio/deployments')
  expect(control.got('DELETE', '/deployments/old').at(-1)!.search.get('data')).toBe('remove')
  await page.getByText('3 deployments').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('has words for nothing, for a role too low, and for a server that is ill', async () => {
  const { control } = shop
  control.deployments.clear()
  const tab = await browser.open(pageUrl(), { expected: /status of (403|503)/ })
  const { page } = tab
  await page.getByRole('heading', { name: 'No deployments yet' }).waitFor()
  await page.getByText('heddle deploy', { exact: true }).waitFor()
  control.refusal = { status: 403, code: 'forbidden', message: 'Only a key that deploys may.' }
  await page.reload()
  await page.getByText('Only a key that deploys may.').waitFor()
  await page.getByText(/keys with the role admin or deployer/).waitFor()
  control.refusal = { status: 503, code: 'unavailable', message: 'It starts.' }
  await page.reload()
  await page.getByText('It starts.').waitFor()
  control.refusal = undefined
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'No deployments yet' }).waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('cuts nothing off at 200 %', async () => {
  const { control } = shop
  control.write(line('a line'))
  control.change('shop', { rollout: rollout('preparing', 'ready', 'waiting', 'waiting') },
    'rollout', { revision: 'r13', phase: 'preparing' })
  const tab = await browser.open(pageUrl(), zoomed)
  const { page } = tab
  for (const [address, words] of [['', 'shop--colours'], ['/shop', 'Members load it'], ['/support',
    'was refused'], ['/shop?view=logs', 'a line'], ['/shop?view=secrets', 'MODEL_URL'], [
    '/shop?view=events',
    'r13',
  ]] as const) {
    await page.goto(pageUrl(address))
    await mainOf(tab).getByText(words).filter({ visible: true }).first().waitFor()
    await expectNothingCutOff(page, address)
  }
  expectQuiet(tab)
  await tab.close()
})
