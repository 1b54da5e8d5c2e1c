/** Firefox, driven by WebDriver BiDi: the flows that Chromium shows in detail work there too. */

import { existsSync } from 'node:fs'

import puppeteer from 'puppeteer-core'
import type { Browser, Page } from 'puppeteer-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'

/** Debian's build. */
const firefoxPath = '/usr/bin/firefox-esr'

/** Milliseconds for each step: a click waits until its button stands still. */
const waitMs = 150_000

const isMissing = !existsSync(firefoxPath)

/** A page of Firefox, and what it complained of. */
export interface FirefoxPage {
  readonly page: Page
  readonly complaints: readonly string[]
}

/** Starts Firefox for the tests of a file; without it they are skipped. */
export function useFirefox(): { open(url: string): Promise<FirefoxPage> } {
  let browser: Browser | undefined
  beforeEach(({ skip }) => {
    if (isMissing) skip(`There is no ${firefoxPath}.`)
  })
  beforeAll(async () => {
    if (isMissing) return
    browser = await puppeteer.launch({ browser: 'firefox', executablePath: firefoxPath,
      headless: true, defaultViewport: { width: 1280, height: 800 } })
  })
  afterAll(() => browser?.close())
  return {
    open: async (url) => {
      const page = await browser!.newPage()
      // It draws without a graphics card: on a busy machine one click takes longer than a minute.
      page.setDefaultTimeout(waitMs)
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (['error', 'warn'].includes(message.type())) complaints.push(message.text())
      })
      await page.goto(url)
      return { page, complaints }
    },
  }
}
