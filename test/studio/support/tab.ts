/** A tab of a real browser: what it shows, what it complained of, and where it called. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { beforeAll, beforeEach, expect } from 'vitest'

import { chromiumPath } from '../../support/chromium.ts'
import { checkFakes } from './checked-fakes.ts'

/** Without the browser the tests of a file are skipped, unless somebody requires them. */
const isMissing = chromiumPath === undefined

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** How a tab looks. */
export interface TabOptions {
  readonly colours?: 'light' | 'dark'
  /** CSS pixels; 1280 by 800 if not given. */
  readonly width?: number
  readonly height?: number
  /** Pixels of the screen for one CSS pixel; 1 if not given. */
  readonly scale?: number
  readonly reducedMotion?: boolean
  /** Complaints that the test provokes, such as an answer of 500. */
  readonly expected?: RegExp
}

/** A tab that a test opened. */
export interface Tab {
  readonly page: Page
  /** What the console said and what was thrown, except for what the test expects. */
  readonly complaints: readonly string[]
  /** Addresses of other origins that the page asked for. */
  readonly foreign: readonly string[]
  /** Violations of WCAG 2.2 A and AA and of best practice, in words. */
  violations(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The browser of a test file. */
export interface BrowserInUse {
  open(url: string, options?: TabOptions): Promise<Tab>
}

/** For all files that run in this process; it ends with that. */
let started: Promise<Browser> | undefined

/** A browser for the tests of a file. Each tab has storage of its own. */
export function useBrowser(): BrowserInUse {
  let browser: Browser | undefined
  beforeEach(({ skip }) => {
    const isRequired = process.env['HEDDLE_REQUIRE_CHROMIUM'] === '1'
    if (isMissing && !isRequired) skip('Chromium is not installed.')
  })
  beforeAll(async () => {
    if (isMissing) return
    // Without windows, frames would share the process of their page unless that is asked for.
    started ??= chromium.launch({ executablePath: chromiumPath!,
      args: ['--no-sandbox', '--disable-gpu', '--site-per-process'] })
    browser = await started
    // Tests that failed leave tabs behind.
    await Promise.all(browser.contexts().map(closeContext))
  })
  return {
    open: async (url, options = {}) => {
      const { colours = 'light', width = 1280, height = 800, scale = 1, reducedMotion = false } =
        options
      const context = await browser!.newContext({ viewport: { width, height }, colorScheme: colours,
        deviceScaleFactor: scale, reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
        locale: 'en-GB' })
      return openTab(context, url, options.expected)
    },
  }
}

/** Closes a context. Requests that its pages still wait for are dropped without an error. */
async function closeContext(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.close()
}

async function openTab(context: BrowserContext, url: string, expected?: RegExp): Promise<Tab> {
  const page = await context.newPage()
  // A busy machine may take long for one step. Other tests measure durations.
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  const foreign: string[] = []
  const complain = (text: string) => {
    if (!expected?.test(text)) complaints.push(text)
  }
  checkFakes(page, (fault) => complaints.push(fault))
  page.on('pageerror', (error) => complain(String(error)))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(message.text())
  })
  const { origin } = new URL(url)
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.origin !== origin) {
      foreign.push(request.url())
    }
  })
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
    console.error('CSP: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  await page.goto(url)
  return {
    page,
    complaints,
    foreign,
    violations: () => violationsIn(page),
    close: () => closeContext(context),
  }
}

/** Resolves when other colours are drawn, and none is on its way. */
export const colouredIn =
  `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const ending = document.getAnimations()
    .filter(({ effect }) => effect.getTiming().iterations !== Infinity)
  Promise.allSettled(ending.map(({ finished }) => finished)).then(() => done())
})))`

interface InPage {
  readonly axe: { run(options: object): Promise<{
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
  }> }
  readonly document: object
  readonly MutationObserver: new(noticed: () => void) => {
    observe(target: object, what: object): void
    takeRecords(): readonly unknown[]
    disconnect(): void
  }
}

/** axe is injected by the driver, past the content security policy. */
async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(colouredIn)
  await page.evaluate(readFileSync(axePath, 'utf8'))
  return page.evaluate(async () => {
    const { axe, document, MutationObserver } = globalThis as unknown as InPage
    const changes = new MutationObserver(() => {})
    const everything = { subtree: true, childList: true, attributes: true, characterData: true }
    for (let looks = 1;; looks++) {
      changes.observe(document, everything)
      const { violations } = await axe.run({
        runOnly: { type: 'tag',
          values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
      })
      const isOfOnePage = changes.takeRecords().length === 0
      changes.disconnect()
      // axe reads names and texts one after the other: of a page that changed meanwhile it may
      // compare what never stood beside each other.
      if (violations.length > 0 && !isOfOnePage && looks < 20) continue
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ html, failureSummary }) =>
          `${id}: ${help}: ${html.slice(0, 200)} ${failureSummary}`
        )
      )
    }
  })
}

/** Fails if a tab complained, or asked another origin. Call it at the end of each test. */
export function expectQuiet({ complaints, foreign }: Tab): void {
  expect(complaints).toEqual([])
  expect(foreign).toEqual([])
}
