/**
 * Attacks with ordinary keys on a server that has the memory of a member. Nothing dies, and the
 * writes of another tenant stay quick. HEDDLE_ATTACK names one that is also tried alone.
 */

import { describe, expect, it } from 'vitest'

import { slownessNow } from '../support/budget/calibration.ts'
import { forgetMost, residentMb } from '../support/memory-limit.ts'
import { compressedCalls, manyValuesInBodies } from './attacks/bodies.ts'
import { metadataFilters } from './attacks/metadata.ts'
import { openPlace } from './attacks/place.ts'
import type { Attack } from './attacks/place.ts'
import { farVersions, longHistory, manyHistories, otherReads } from './attacks/reads.ts'
import { traceWrites } from './attacks/trace-writes.ts'
import { percentile, startWriteMeter } from './attacks/write-meter.ts'

const attacks: readonly Attack[] = [longHistory, manyHistories, farVersions, otherReads,
  metadataFilters, manyValuesInBodies, compressedCalls]

/** How long writes are measured without an attack. */
const quietMs = 3_000
/** Of 100 writes of another tenant, 99 take no longer, on a machine that has nothing else to do. */
const slowestMs = 100
async function withstand(chosen: readonly Attack[], args: readonly string[] = []): Promise<void> {
  const place = await openPlace(args)
  try {
    const { server, other } = place
    const { pid } = server
    const begin: (() => Promise<unknown>)[] = []
    for (const { prepare } of chosen) begin.push(await prepare(place))
    const measured = async (during: Promise<unknown>) => {
      const meter = startWriteMeter({ url: server.url, key: other,
        writes: chosen[0]!.beside ?? 'threads' })
      await during
      return meter.stop()
    }
    const quiet = await measured(new Promise((done) => setTimeout(done, quietMs)))
    const before = slownessNow().wall
    forgetMost(pid)
    const beganMs = performance.now()
    const answers = Promise.all(begin.map((attack) => attack()))
    const attacked = await measured(answers)
    const figures = {
      attack: chosen.map(({ name }) => name).join(', '),
      seconds: Math.round((performance.now() - beganMs) / 1_000),
      answers: await answers,
      p99: Math.round(percentile(attacked, 0.99)),
      slowest: Math.round(percentile(attacked, 1)),
      quietP99: Math.round(percentile(quiet, 0.99)),
      writes: attacked.ms.length,
    }
    // Beside other work, a write takes longer by that.
    const slowness = Math.max(before, slownessNow().wall)
    const alive = server.pid === pid &&
      await fetch(`${server.url}/ok`).then(({ ok }) => ok, () => false)
    console.log(
      JSON.stringify({ ...figures, alive, slowness: Math.round(slowness * 10) / 10,
        mostMb: alive ? Math.round(residentMb(pid).most) : undefined }),
    )
    expect({ alive, failed: attacked.failures.length }).toEqual({ alive: true, failed: 0 })
    expect(figures.p99).toBeLessThan(slowness * (chosen[0]!.slowestMs ?? slowestMs))
  } finally {
    await place.close()
  }
}

describe('With the memory of a member, a server withstands', () => {
  const chosen = process.env['HEDDLE_ATTACK']
  it.each(attacks.filter(({ name }) => chosen !== undefined && name.includes(chosen)))(
    '$name',
    (attack) => withstand([attack]),
  )
  it('all attacks at once', () => withstand(attacks))
  it.each(traceWrites.filter(({ name }) => chosen === undefined || name.includes(chosen)))(
    'spans of another tenant are written beside $name',
    (attack) => withstand([attack], ['--traces-disk-mb', '64']),
  )
})
