/** An upgrade finishes only if all members support the tables that are required from then on. */

import { describe, expect, it } from 'vitest'

import type { MemberDetails } from '../../../../src/frontdoor/index.ts'
import { createClusterOperator } from '../../../../src/server/operator/cluster-operator.ts'
import type { ControlTables } from '../../../../src/store/cassandra/index.ts'
import { virtualEnv } from '../../../support/env.ts'

const required = 14
const [first, second] = ['0a1b', '0c3d']
const details: MemberDetails = { version: '0.1.0+2988e945', tables: required, startedAtMs: 0,
  actors: 0, runs: 0, load: 0 }

/**
 * A cluster of two members, of which the second one responds with this, or not at all. A late one
 * starts while the upgrade is being finished.
 */
function clusterWith(reported: Partial<MemberDetails> | null, isLate = false) {
  const done: string[] = []
  const beats = [first, second].map((id) => ({ id, address: `10.0.0.${id[1]}:2025`, count: 1,
    leaving: false })
  )
  const tables = { finishedFrom: required,
    members: async () => isLate && done.length === 0 ? beats.slice(0, 1) : beats,
    shardOwners: { owners: async () => [] },
    finishUpgrade: async () => void done.push('finished') } as unknown as ControlTables
  const operator = createClusterOperator({ tables, env: virtualEnv(), caller: {
    ask: async ({ id }) => {
      if (id === first) return details
      if (reported === null) throw new Error('No member listens there.')
      return { ...details, ...reported }
    },
    close: () => {},
  } })
  return { operator, done }
}

describe('upgrade finish', () => {
  it('names a member of an equal version that supports older tables', async () => {
    const { operator, done } = clusterWith({ tables: required - 1 })
    await expect(operator.finishUpgrade()).rejects.toMatchObject({ code: 'in_use',
      message: 'The member 0c3d at 10.0.0.c:2025 (0.1.0+2988e945) supports the tables up to ' +
        'version 13. Upgrade all members to a program that supports version 14 of the tables ' +
        'first.' })
    expect(done).toEqual([])
  })

  it('counts a member that reports no tables as the oldest', async () => {
    const { operator, done } = clusterWith({ version: '0.1.0', tables: undefined })
    await expect(operator.finishUpgrade()).rejects.toThrow(
      'The member 0c3d at 10.0.0.c:2025 (0.1.0) does not report which tables it supports.',
    )
    expect(done).toEqual([])
  })

  it('refuses while a member does not respond', async () => {
    const { operator, done } = clusterWith(null)
    await expect(operator.finishUpgrade()).rejects.toThrow('10.0.0.c:2025 does not respond.')
    expect(done).toEqual([])
  })

  it('names an earlier member that started while the upgrade was being finished', async () => {
    const { operator, done } = clusterWith({ tables: required - 1 }, true)
    await expect(operator.finishUpgrade()).rejects.toMatchObject({ code: 'in_use',
      message: expect.stringMatching(
        /^The member 0c3d .* up to version 13\. It started while .* end this member/,
      ) })
    expect(done).toEqual(['finished'])
  })

  it.each([required, required + 1])(
    'accepts members of other builds that support version %i of the tables',
    async (tables) => {
      const { operator, done } = clusterWith({ version: '0.1.0+0badf00d', tables })
      expect(await operator.finishUpgrade()).toBe(required)
      expect(done).toEqual(['finished'])
    },
  )
})
