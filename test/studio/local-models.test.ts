/** The playground at its first click: a model on this machine, or one that a person sets up. */

import { expect, it } from 'vitest'

import { openModel } from '../support/model-server.ts'
import { useServer } from '../support/server.ts'
import { countClicks } from './support/clicks.ts'
import { expectGoodLooks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'

const model = await openModel(['Good', ' day.'])
const origin = new URL(model.url).origin

const withLocal = useServer({ args: ['--local-models', origin, '--workers', '1'] })
const without = useServer({
  args: ['--local-models', 'off', '--egress-allow', '127.0.0.1', '--workers', '1'],
})
const browser = useBrowser()

it('asks a model of this machine with two clicks, from wherever one is', async () => {
  const tab = await browser.open(`${withLocal.url}/studio/threads`)
  const { page } = tab
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Playground', exact: true }).click()
  const choice = page.getByLabel('Model', { exact: true })
  await expect.poll(() => choice.locator('option:checked').textContent()).toBe('small-local')
  // The field needs no click: it gets what is typed.
  await page.keyboard.type('Good morning.')
  expect(await page.getByLabel('Message 1', { exact: true }).inputValue()).toBe('Good morning.')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('region', { name: 'Answer of Model 1' }).getByText('Good day.').waitFor()
  expect(await clicks()).toBe(2)
  expect(model.asked.at(-1)).toMatchObject({ model: 'small-local' })
  expect(await choice.locator('option').allTextContents()).not.toContain('text-embed-1')
  await page.getByText('Settings', { exact: true }).click()
  await page.getByLabel('Max tokens').fill('7')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await expect.poll(() => model.asked.at(-1)!['max_tokens']).toBe(7)
  expect(await tab.violations()).toEqual([])
  expectQuiet(tab)
  await tab.close()
})

it('offers to set a model up where there is none, and asks it then', async () => {
  await expectGoodLooks(browser, `${without.url}/studio/playground`,
    ({ page }) => page.getByRole('form', { name: 'Set up a model' }).waitFor())
  const tab = await browser.open(`${without.url}/studio/playground`)
  const { page } = tab
  const form = page.getByRole('form', { name: 'Set up a model' })
  const run = page.getByRole('button', { name: 'Run', exact: true })
  await form.waitFor()
  expect([await run.isDisabled(), await run.getAttribute('title')])
    .toEqual([true, 'Set up a model first'])
  await form.getByLabel('Provider').selectOption('other')
  await form.getByLabel('URL').fill(`${origin}/v1`)
  await form.getByLabel('Name of the model').fill('mine')
  await form.getByLabel('Key').fill('sk-of-mine')
  await form.getByRole('button', { name: 'Set up the model' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByLabel('Message 1', { exact: true }).fill('Hi')
  await run.click()
  await page.getByRole('region', { name: 'Answer of Model 1' }).getByText('Good day.').waitFor()
  expect(model.received.at(-1)!.headers.authorization).toBe('Bearer sk-of-mine')
  expect(page.url()).not.toContain('sk-of-mine')
  expectQuiet(tab)
  await tab.close()
})
