/** The validation suite of the ecosystem, with every checkpoint in a real thread's log on disk. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { afterAll } from 'vitest'

import type { RecordOf } from '../../src/checkpoint/index.ts'
import { openEmbeddedStore } from '../../src/store/embedded/index.ts'
import type { EmbeddedStore } from '../../src/store/embedded/index.ts'
import { ByteBudget } from '../../src/thread/byte-budget.ts'
import { executionSource } from '../../src/thread/execution-source.ts'
import { ThreadLedger } from '../../src/thread/thread-ledger.ts'
import { virtualEnv } from '../support/env.ts'
import type { SuiteLog } from '../support/validated-saver.ts'
import { ValidatedSaver } from '../support/validated-saver.ts'

const directory = mkdtempSync(join(tmpdir(), 'heddle-validation-'))
const env = virtualEnv()
let opened: Promise<EmbeddedStore> | undefined
let threads = 0

/** A thread of its own for each: the suite uses the same ids again and again. */
function openLog(): SuiteLog {
  opened ??= openEmbeddedStore({ directory, env })
  const threadId = `thread ${++threads}`
  const ledger = opened.then((store) => ThreadLedger.load({
    ports: { ...store, views: new ByteBudget(1e6) }, tenant: 't', threadId, epoch: 1,
    newBranchId: env.uuid(), after: env.after, onLost: (reason) => { throw reason },
  }))
  const source = ledger.then(executionSource)
  return {
    source: {
      tuple: async (ns, id) => (await source).tuple(ns, id),
      list: async (query) => (await source).list(query),
    },
    append: async (steps) => {
      const made = await ledger
      const parents = steps.flatMap((step) => step.$case === 'checkpoint' && !step.value.full
        && step.value.ns !== '' ? [{ ns: step.value.ns, id: step.value.parentId }] : [])
      await made.knowParents(parents)
      await made.write(steps as readonly RecordOf[])
    },
  }
}

afterAll(async () => {
  await (await opened)?.close()
  rmSync(directory, { recursive: true, force: true })
})

for (const forgetful of [false, true]) {
  const initializer = {
    checkpointerName: `HeddleSaver on disk${forgetful ? ' without a memory' : ''}`,
    createCheckpointer: () => new ValidatedSaver({ openLog, forgetful }),
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
