/** The saver passes the ecosystem's own validation suite, with and without its memory. */

import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'

import { ModelLog } from '../../../support/model-log.ts'
import { ValidatedSaver } from '../../../support/validated-saver.ts'

function openLog() {
  const source = new ModelLog()
  return { source, append: source.append.bind(source) }
}

for (const forgetful of [false, true]) {
  const initializer = {
    checkpointerName: forgetful ? 'HeddleSaver without a memory' : 'HeddleSaver',
    createCheckpointer: () => new ValidatedSaver({ openLog, forgetful }),
  }
  validate(initializer)
  deltaChannelHistoryTests(initializer)
}
