/** The validation suite of the ecosystem, with every checkpoint in a real thread's log on disk. */

import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { afterAll } from 'vitest'

import { keptLogs } from '../support/kept-log-rows.ts'
import { isNight } from '../support/repeats.ts'
import { ValidatedSaver } from '../support/validated-saver.ts'
import { embeddedPlace } from './embedded-place.ts'
import type { OpenStore } from './store-place.ts'

const place = embeddedPlace()
let store: Promise<OpenStore> | undefined
const openLog = keptLogs(() => store ??= place.open())

afterAll(async () => {
  await (await store)?.close()
  await place.remove()
})

// By day it forgets on Cassandra alone.
for (const forgetful of isNight ? [false, true] : [false]) {
  const initializer = {
    checkpointerName: `HeddleSaver on disk${forgetful ? ' without a memory' : ''}`,
    createCheckpointer: () => new ValidatedSaver({ openLog, forgetful }),
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
