/** The form of an experiment: what it suggests, and what it asks the server for. */

import { expect, it } from 'vitest'

import { bodyOf, draftOf, missingIn,
  suggested } from '../../../src/studio/experiments/experiment-draft.ts'

const none = { inputText: '', outputText: '' }
const noModels = () => undefined

it('The first text of an example goes in, and its first output comes out', () => {
  expect(suggested({ inputs: { no: 1, question: 'Why?', more: 'x' }, outputs: { answer: 'So' } }))
    .toEqual({ inputText: 'question', outputText: 'answer' })
  expect(suggested({ inputs: { q: 'Why?' }, outputs: null }))
    .toEqual({ inputText: 'q', outputText: 'answer' })
  for (const inputs of [{ messages: [], q: 'x' }, { no: 1 }, {}]) {
    expect(suggested({ inputs, outputs: { answer: 'So' } })).toEqual(none)
  }
  expect(suggested(undefined)).toEqual(none)
})

it('Asks for what is typed, and else for what is suggested', () => {
  const draft = { ...draftOf({ dataset: 'd' }), assistant: 'a' }
  expect(bodyOf(draft, { inputText: 'q', outputText: 'answer' }, noModels)).toEqual({
    dataset_id: 'd',
    assistant_id: 'a',
    input_text: 'q',
    output_text: 'answer',
    repetitions: 1,
    max_concurrency: 4,
  })
  expect(
    bodyOf({ ...draft, inputText: '', outputText: '', name: ' n ', evaluatorIds: ['e'],
      graph: 'judge', repetitions: '3' }, { inputText: 'q', outputText: 'answer' }, noModels),
  )
    .toEqual({ dataset_id: 'd', assistant_id: 'a', repetitions: 3, max_concurrency: 4,
      project_name: 'n', evaluator_ids: ['e'], evaluators: [{ graph_id: 'judge' }] })
})

it('A prompt is asked of a model, by its owner if that is another one', () => {
  const draft = { ...draftOf({ dataset: 'd', prompt: 'acme/p' }), model: 'm' }
  expect(bodyOf(draft, none, (name) => ({ model: name }))).toMatchObject({
    prompt: { owner: 'acme', name: 'p' },
    model: { model: 'm' },
  })
  expect(bodyOf({ ...draft, prompt: 'p', model: '' }, none, noModels)).toEqual({ dataset_id: 'd',
    prompt: { name: 'p' }, repetitions: 1, max_concurrency: 4 })
})

it('Says what is missing', () => {
  expect(missingIn(draftOf({}))).toBe('Choose a dataset')
  expect(missingIn(draftOf({ dataset: 'd' }))).toBe('Choose an assistant')
  expect(missingIn({ ...draftOf({ dataset: 'd' }), kind: 'prompt' })).toBe('Choose a prompt')
  expect(missingIn(draftOf({ dataset: 'd', prompt: 'p' }))).toBeUndefined()
})
