/** The form of an experiment: what it starts with, and what it asks the server for. Pure. */

import type { Example, NewExperiment } from '../../api/index.ts'

/** Kind of what is asked about the examples. */
export type TargetKind = 'assistant' | 'prompt'

/** The fields, as they are typed. */
export interface ExperimentDraft {
  readonly dataset: string
  readonly kind: TargetKind
  readonly assistant: string
  readonly prompt: string
  /** Name of a configured model; empty for the one of the prompt or the workspace. */
  readonly model: string
  /** Undefined: as the first example suggests. Empty: all inputs, or the whole state. */
  readonly inputText: string | undefined
  readonly outputText: string | undefined
  readonly evaluatorIds: readonly string[]
  /** Name of a graph that judges; empty for none. */
  readonly graph: string
  readonly repetitions: string
  readonly atOnce: string
  readonly name: string
}

/** Choices that a form may start with. */
export type DraftStart = Partial<Pick<ExperimentDraft, 'dataset' | 'assistant' | 'prompt'>>

/** An empty form. */
export const draftOf = (
  { dataset = '', assistant = '', prompt = '' }: DraftStart,
): ExperimentDraft => ({ dataset, assistant, prompt, kind: prompt === '' ? 'assistant' : 'prompt',
  model: '', inputText: undefined, outputText: undefined, evaluatorIds: [], graph: '',
  repetitions: '1', atOnce: '4', name: '' })

/** The members that an example suggests: its first text in, and its first member out. */
export function suggested(
  example: Pick<Example, 'inputs' | 'outputs'> | null | undefined,
): { readonly inputText: string; readonly outputText: string } {
  const inputs = example?.inputs ?? {}
  // Inputs that are a state already go in as they are, and the state comes out.
  if (Object.hasOwn(inputs, 'messages')) return { inputText: '', outputText: '' }
  const [text] = Object.entries(inputs).find(([, value]) => typeof value === 'string') ?? ['']
  return { inputText: text, outputText: text === '' ? '' : Object.keys(example?.outputs ?? {})[0]
    ?? 'answer' }
}

/** The body of the request. `settingsOf` gives the settings of a configured model. */
export function bodyOf(draft: ExperimentDraft, suggestion: ReturnType<typeof suggested>,
  settingsOf: (model: string) => Record<string, unknown> | undefined): NewExperiment {
  const { kind, dataset, assistant, prompt, model, evaluatorIds, graph, name } = draft
  const [input, output] = [draft.inputText ?? suggestion.inputText,
    draft.outputText ?? suggestion.outputText]
  const settings = model === '' ? undefined : settingsOf(model)
  return {
    dataset_id: dataset,
    ...kind === 'assistant'
      ? { assistant_id: assistant, ...input !== '' && { input_text: input } }
      : { prompt: promptOf(prompt), ...settings && { model: settings } },
    ...output !== '' && { output_text: output },
    ...evaluatorIds.length > 0 && { evaluator_ids: evaluatorIds },
    ...graph !== '' && { evaluators: [{ graph_id: graph }] },
    repetitions: Number(draft.repetitions),
    max_concurrency: Number(draft.atOnce),
    ...name.trim() !== '' && { project_name: name.trim() },
  }
}

/** Hint at the choice that is missing; undefined if none is. */
export function missingIn(
  { dataset, kind, assistant, prompt }: ExperimentDraft,
): string | undefined {
  if (dataset === '') return 'Choose a dataset'
  if (kind === 'assistant') return assistant === '' ? 'Choose an assistant' : undefined
  return prompt === '' ? 'Choose a prompt' : undefined
}

/** A name without an owner is of the own prompts. */
function promptOf(full: string): { readonly owner?: string; readonly name: string } {
  const [owner = '', name] = full.split('/', 2)
  return name === undefined ? { name: full } : { owner, name }
}
