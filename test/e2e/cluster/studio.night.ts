/** The Studio of a member while others are killed, drained, and started again. */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'

import { setup as buildStudio } from '../../studio/support/setup.ts'
import { expectQuiet, useBrowser } from '../../studio/support/tab.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster, ClusterMember } from '../../support/cluster.ts'
import { useGates } from '../../support/gate.ts'
import { clientOf } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const cassandra = await cassandraForTests()
/** Longer than a fail-over takes on a busy machine. */
const patienceMs = 40_000

describe.skipIf(!cassandra)('the Studio of three members', () => {
  const browser = useBrowser()
  const newGate = useGates()
  let keyspace: CassandraKeyspace
  let cluster: Cluster
  let killed: ClusterMember | undefined

  beforeAll(async () => {
    buildStudio()
    keyspace = newKeyspace(cassandra!)
    cluster = await startCluster({ members: 3, project: 'conformance', cassandra: keyspace })
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await dropKeyspace(keyspace)
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  it('shows a run go on, each step once, when the owner of its thread is killed', async () => {
    const { thread_id: id } = await clientOf(cluster.frontDoors[0]!).threads.create({
      graphId: 'held',
    })
    const { body } = await ask(cluster.frontDoors[0]!, 'GET', `/threads/${id}/place`)
    const owner = cluster.members.find(({ session }) =>
      session === (body as { member: string }).member
    )!
    killed = owner
    const door = cluster.members.find((member) => member !== owner)!
    const tab = await browser.open(`${door.url}/studio/threads/${id}`)
    const members = await browser.open(`${door.url}/studio/cluster`)
    for (const { page } of [tab, members]) page.setDefaultTimeout(patienceMs)
    await members.page.getByText('3 members, 256 shards').waitFor()
    const { page } = tab
    // A reload would lose this.
    await page.evaluate('globalThis.stays = true')
    const gate = newGate()
    const box = page.getByRole('textbox', { name: 'Message' })
    await box.fill(`hold ${gate.url}`)
    await box.press('Enter')
    const line = page.getByRole('grid', { name: /time line/i })
    await line.getByTitle('first').first().waitFor()
    await gate.arrived()

    const killedMs = performance.now()
    const since = async (seen: Promise<unknown>) => {
      await seen
      return `${(performance.now() - killedMs).toFixed(0)} ms`
    }
    const [, again, gone, moved] = await Promise.all([owner.kill('SIGKILL'),
      since(page.getByText('attempt 2').first().waitFor()),
      since(members.page.getByRole('log').getByText(/is gone/).first().waitFor()),
      since(members.page.getByRole('log').getByText(/shards?: \S+ → (?!nobody)/).first().waitFor()),
      gate.arrived(2)])
    gate.open()
    const rows = line.getByRole('row')
    await rows.filter({ hasText: 'now' }).filter({ hasText: 'last' }).waitFor()
    console.log(`After a kill: attempt 2 ${again}, gone ${gone}, first shards moved ${moved}, ` +
      `finished ${(performance.now() - killedMs).toFixed(0)} ms`)
    const labels = await rows.allInnerTexts()
    for (const step of ['first', 'hold', 'last']) {
      expect(labels.filter((text) => text.split('\n')[0] === step), labels.join(' | '))
        .toHaveLength(1)
    }
    for (const said of ['first', 'held', 'last']) {
      expect(await page.getByRole('log').getByText(said, { exact: true }).count()).toBe(1)
    }
    expect(await page.evaluate('globalThis.stays')).toBe(true)
    await members.page.getByRole('img', { name: /^256 shards/ }).waitFor()
    for (const each of [tab, members]) {
      expectQuiet(each)
      await each.close()
    }
  }, 120_000)

  it('shows members that are started again, and one that gives its shards back', async () => {
    const [door, leaver] = cluster.members.filter((member) => member !== killed)
    const tab = await browser.open(`${door!.url}/studio/cluster`)
    const { page } = tab
    page.setDefaultTimeout(patienceMs)
    const card = (state: string, member: ClusterMember) =>
      page.getByRole('button', { name: new RegExp(`^${state} ${shortId(member)}`) })
    const owning = (member: ClusterMember) =>
      card('Serving', member).filter({ hasText: /[1-9]\d* shards/ }).waitFor()
    const line = (text: string) => page.getByRole('log').getByText(text).first().waitFor()
    await page.getByText('256 shards').first().waitFor()
    if (killed !== undefined) {
      await killed.restart()
      await line(`${shortId(killed)} joined at 127.0.0.1`)
      await owning(killed)
    }
    await owning(leaver!)
    const left = shortId(leaver!)
    const stoppedMs = performance.now()
    const [exit] = await Promise.all([leaver!.kill('SIGTERM'),
      line(`${left} gives its shards back`), line(`${left} is gone`)])
    console.log(`A member that leaves is seen to be gone after ` +
      `${(performance.now() - stoppedMs).toFixed(0)} ms`)
    expect(exit).toEqual({ code: 0, signal: null })
    await card('Gone', leaver!).filter({ hasText: '0 shards' }).waitFor()
    await page.getByRole('img', { name: /^256 shards/ }).waitFor()
    expect(await page.getByText('without an owner').count()).toBe(0)
    await leaver!.restart()
    expect(shortId(leaver!)).not.toBe(left)
    await line(`${shortId(leaver!)} joined at 127.0.0.1`)
    await owning(leaver!)
    expectQuiet(tab)
    await tab.close()
  }, 120_000)
})

/** As the page names a member. */
const shortId = ({ session }: ClusterMember) => session.slice(0, 8)
