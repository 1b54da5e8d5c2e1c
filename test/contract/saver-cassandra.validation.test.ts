/** The validation suite of the ecosystem, with every checkpoint in a thread's log in Cassandra. */

import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { afterAll, describe } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { keptLogs } from '../support/kept-log-rows.ts'
import { ValidatedSaver } from '../support/validated-saver.ts'
import { cassandraPlace } from './cassandra-place.ts'
import type { OpenStore } from './store-place.ts'

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('on Cassandra', () => {
  const place = cassandraPlace(cassandra!)
  let store: Promise<OpenStore> | undefined
  const openLog = keptLogs(() => store ??= place.open())

  afterAll(async () => {
    await (await store)?.close()
    await place.remove()
  })

  // Without a cache, so that every read comes from Cassandra.
  const initializer = {
    checkpointerName: 'HeddleSaver in Cassandra',
    createCheckpointer: () => new ValidatedSaver({ openLog, forgetful: true }),
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
})
