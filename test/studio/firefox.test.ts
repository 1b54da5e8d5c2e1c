/** The main flows in Firefox: what Chromium shows in detail works there too. */

import { expect, it } from 'vitest'

import { isNight } from '../support/repeats.ts'
import { useStarter } from './support/desk.ts'
import { useFirefox } from './support/firefox.ts'

const starter = useStarter()
const firefox = useFirefox()

it.runIf(isNight)('lists, asks, answers, shows the state, and changes its colours', async () => {
  const { page, complaints } = await firefox.open(`${starter.url}/`)
  const called = (name: string, role: string) =>
    page.locator(`::-p-aria([name="${name}"][role="${role}"])`)
  await called('Threads', 'heading').wait()
  await called('New thread', 'button').click()
  await page.locator('::-p-xpath(//*[@role="dialog"]//button[starts-with(., "desk")])').click()
  await called('Message', 'textbox').fill('How does a dobby loom differ?')
  await page.keyboard.press('Enter')
  await called('Approve', 'button').click()
  await called('Send now', 'button').click()
  await page.locator('::-p-text(Published)').wait()
  await called('State', 'tab').click()
  await page.locator('::-p-text(publication)').wait()
  await called('Switch to dark colours', 'button').click()
  await called('Switch to light colours', 'button').wait()
  await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  expect(complaints).toEqual([])
}, 400_000)
