/** The cluster in the Studio: members, shards, and what happens to them. */

import { expect, it } from 'vitest'

import type { Cluster } from '../../src/api/index.ts'
import { useServer } from '../support/server.ts'
import { looks } from './support/looks.ts'
import { expectQuiet, useBrowser } from './support/tab.ts'
import type { Tab } from './support/tab.ts'

const server = useServer()
const browser = useBrowser()

const [a, b, c] = ['aaaaaaaa-1', 'bbbbbbbb-2', 'cccccccc-3'] as const
const at = '2026-01-01T12:00:00.500+00:00'

type Member = Cluster['members'][number]

const member = (id: string, state: Member['state'], asked = true): Member => ({ id, state,
  self: id === a, address: `10.0.0.${id.at(-1)}:2025`, shards: 0, version: asked ? '0.1.0' : null,
  started_at: asked ? at : null, actors: asked ? 1_203 : null, runs: asked ? 4 : null,
  load: asked ? 0.25 : null })

const event = (name: string, value: object) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`

const three: Cluster = {
  members: [member(a, 'serving'), member(b, 'serving'), member(c, 'draining', false)],
  shards: { count: 256, owners: Array.from({ length: 256 }, (_, shard) => shard % 3) },
  region: { name: 'us', api_url: 'https://us.example', ingress: ['203.0.113.1'], egress: [] },
  embedded: false,
}

/** Three members, one of which goes. */
const events = event('cluster', three) + event('gone', { ...member(b, 'gone'), at }) +
  event('moved', { from: b, to: a, shards: [1, 4, 7], at }) +
  event('moved', { from: b, to: null, shards: [10], at }) +
  event('joined', { ...member('dddddddd-4', 'joining', false), at })

async function withEvents({ page }: Tab): Promise<void> {
  await page.route('**/cluster/stream',
    (route) => route.fulfill({ contentType: 'text/event-stream', body: events }))
  await page.reload()
  await page.getByText('dddddddd joined at').waitFor()
}

it('of one member says so, and what more of them would bring', async () => {
  const tab = await browser.open(`${server.url}/studio/cluster`)
  const { page } = tab
  await page.getByText('One member, embedded.').waitFor()
  await page.getByText('1 member, 256 shards').waitFor()
  await page.getByRole('img', { name: /^256 shards: 256 of / }).waitFor()
  await page.getByText('Answers this page').waitFor()
  expectQuiet(tab)
  await tab.close()
})

it('of several shows who is there, who owns what, and what happened', async () => {
  const tab = await browser.open(`${server.url}/studio/cluster`)
  const { page } = tab
  await withEvents(tab)
  await page.getByText('3 of 4 members, 256 shards, 1 without an owner').waitFor()
  const lines = page.getByRole('log').getByRole('listitem')
  await expect.poll(() => lines.allInnerTexts()).toEqual([
    expect.stringContaining('dddddddd joined at 10.0.0.4:2025'),
    expect.stringContaining('1 shard: bbbbbbbb → nobody'),
    expect.stringContaining('3 shards: bbbbbbbb → aaaaaaaa'),
    expect.stringContaining('bbbbbbbb is gone'),
  ])
  await page.getByRole('button', { name: /Draining cccccccc.*It does not answer\./s }).waitFor()
  await page.getByRole('button', { name: /Gone bbbbbbbb/ }).waitFor()
  await page.getByText('203.0.113.1').waitFor()

  // A member is chosen by keyboard, stands in the address, and stays after a reload.
  await page.getByRole('button', { name: /Answers this page aaaaaaaa/ }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/cluster?member=aaaaaaaa-1')
  await page.reload()
  await page.getByRole('button', { name: /Answers this page aaaaaaaa/, pressed: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.waitForURL('**/cluster')
  await expect.poll(() => page.locator('*').count()).toBeLessThan(1_500)
  expectQuiet(tab)
  await tab.close()
})

it.each(looks)(
  'is accessible in $colours at $width pixels',
  async ({ colours, width }) => {
    const tab = await browser.open(`${server.url}/studio/cluster`, { colours, width })
    await withEvents(tab)
    expect(await tab.violations()).toEqual([])
    // Nothing is wider than the screen.
    await expect.poll(() => tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expectQuiet(tab)
    await tab.close()
  },
)

it('says why it is not shown, and comes back when the server does', async () => {
  const tab = await browser.open(`${server.url}/studio/cluster`, {
    expected: /Failed to load resource/,
  })
  const { page } = tab
  let [status, detail] = [503, 'The server is starting.']
  await page.route('**/cluster/stream',
    (route) => route.fulfill({ status, json: { detail, code: 'x' } }))
  await page.reload()
  // It is asked again by itself, until the answer is one that stays.
  await page.getByRole('alert').getByText('The server is starting.').waitFor()
  ;[status, detail] = [403, 'Only an API key with the role admin may do this.']
  await page.getByText('Only an API key with the role admin may do this.').waitFor()
  await page.getByText('Members and shards are shown to admins.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  expect(await tab.violations()).toEqual([])
  // No answer at all is tried again by itself.
  let lost = true
  await page.unrouteAll()
  await page.route('**/cluster/stream', (route) => lost ? route.abort() : route.fallback())
  await page.reload()
  await page.getByText('The connection is lost.').waitFor()
  lost = false
  await page.getByText('One member, embedded.').waitFor()
  await page.getByText('The connection is lost.').waitFor({ state: 'detached' })
  expectQuiet(tab)
  await tab.close()
})
