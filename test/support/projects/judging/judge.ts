/** A graph that judges: an answer is short or not. `mute` says nothing, `broken` fails. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Judgement = Annotation.Root({
  inputs: Annotation<Record<string, unknown>>(),
  outputs: Annotation<Record<string, unknown>>(),
  reference: Annotation<unknown>(),
  short: Annotation<boolean>(),
  comment: Annotation<string>(),
})

/** One node. */
export const judge = new StateGraph(Judgement)
  .addNode('judge', ({ inputs, outputs }) => {
    const answer = String(outputs['answer'] ?? '')
    if (inputs['kind'] === 'broken') throw new Error('I cannot judge this.')
    if (inputs['kind'] === 'mute') return {}
    return { short: answer.length < 10, comment: `${answer.length} characters` }
  })
  .addEdge(START, 'judge')
  .addEdge('judge', END)
  .compile()
