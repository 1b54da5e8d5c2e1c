/** A member in a separate process that is killed or stopped: what others notice. */

import { describe, expect, it, onTestFinished } from 'vitest'

import { sight } from '../../../../cluster/transport/grpc/probe.ts'
import type { HeddleError } from '../../../../src/errors.ts'
import { startLoneMember } from '../../../support/lone-member.ts'
import { isNight } from '../../../support/repeats.ts'
import { tookMs } from '../../../support/stillness.ts'
import { identity, env, keeping, transportWith, trust, until,
  white } from '../transport/grpc/grpc-house.ts'

async function loneMember() {
  const member = await startLoneMember(identity.cluster, trust.secret!)
  onTestFinished(() => void member.child.kill('SIGKILL'))
  return member
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('it was answered')
    },
    (error: unknown) => error as HeddleError,
  )

describe('a member', () => {
  it('that is killed loses its followers at once, and its commands are ambiguous', async () => {
    const member = await loneMember()
    const transport = transportWith()
    expect(await transport.deliver(member, white, 'e4')).toBe('e4')
    const { watcher, moves, ended } = keeping()
    await transport.follow(member, white, null, watcher)
    await until(() => moves.length === 1)
    const pondering = failure(transport.deliver(member, white, 'ponder'))
    expect(await transport.deliver(member, white, 'e5')).toBe('e5')
    const killedMs = performance.now()
    member.child.kill('SIGKILL')
    expect(await ended).toBe('lost')
    expect(await pondering).toMatchObject({ code: 'internal', details: { ambiguous: true } })
    const next = await failure(transport.deliver(member, white, 'd4'))
    expect(next.code).toBe('unavailable')
    expect(await sight(member, { env, trust, identity })).toEqual({ kind: 'dead' })
    expect(tookMs(killedMs)).toBeLessThan(3_000)
  })

  it.runIf(isNight)('that stands still is given up, by waiting callers and by followers',
    async () => {
      const member = await loneMember()
      const transport = transportWith()
      const { watcher, ended } = keeping()
      await transport.follow(member, white, null, watcher)
      expect(await transport.deliver(member, white, 'e4')).toBe('e4')
      const stoppedMs = performance.now()
      member.child.kill('SIGSTOP')
      const asked = failure(transport.deliver(member, white, 'e5'))
      expect(await ended).toBe('lost')
      expect(await asked).toMatchObject({ details: { ambiguous: true } })
      expect(tookMs(stoppedMs)).toBeLessThan(10_000)
      member.child.kill('SIGCONT')
    })
})
