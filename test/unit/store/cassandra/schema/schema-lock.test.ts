/** The lock of who changes the schema. */

import { expect, it } from 'vitest'

import { systemEnv } from '../../../../../cluster/index.ts'
import { AmbiguousSwap } from '../../../../../src/store/cassandra/driver/connection.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { SchemaLock } from '../../../../../src/store/cassandra/schema/schema-lock.ts'

/** A connection whose compare-and-sets that renew the lock have these outcomes. */
function lockOf(...renewals: readonly (boolean | AmbiguousSwap)[]): SchemaLock {
  const left = [...renewals]
  const connection: Partial<Connection> = {
    control: 'control',
    execute: () => Promise.resolve(),
    agreed: () => Promise.resolve(),
    swap: (statements) => {
      const { cql } = [statements].flat()[0]!
      const outcome = cql.startsWith('UPDATE') ? left.shift()! : true
      if (typeof outcome !== 'boolean') return Promise.reject(outcome)
      return Promise.resolve({ applied: outcome, row: undefined })
    },
  }
  return new SchemaLock(connection as Connection, systemEnv({ level: 'error' }))
}

const renewed = (lock: SchemaLock) => lock.hold((held) => held.renew())

it('A renewal that perhaps was done is done again', async () => {
  const unknown = new AmbiguousSwap(new Error('no answer'))
  await expect(renewed(lockOf(unknown, unknown, true))).resolves.toBeUndefined()
})

it('A lock that another member holds ends the change', async () => {
  await expect(renewed(lockOf(false))).rejects.toThrow('Another member changes the schema')
})
