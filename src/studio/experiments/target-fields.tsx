/** Fields of what an experiment asks: an assistant or a prompt, and what goes in and out. */

import { useQuery } from '@tanstack/react-query'

import type { Example } from '../../api/index.ts'
import { assistantList } from '../api/assistants.ts'
import { Field, TextField } from '../parts/field.tsx'
import { promptNames, savedModels } from '../api/platform/models.ts'
import type { ExperimentDraft, suggested, TargetKind } from './experiment-draft.ts'

/** A form, and how it changes. */
export interface DraftFieldsProps {
  readonly draft: ExperimentDraft
  readonly set: (change: Partial<ExperimentDraft>) => void
}

/** Fields of what is asked. */
export function TargetFields({ draft, set, suggestion, example }: DraftFieldsProps & {
  readonly suggestion: ReturnType<typeof suggested>
  readonly example: Example | null | undefined
}) {
  return (
    <>
      <Field label="Ask">
        {(ids) => (
          <select {...ids} value={draft.kind}
            onChange={({ target }) => set({ kind: target.value as TargetKind })}
          >
            <option value="assistant">An assistant</option>
            <option value="prompt">A prompt, of a model</option>
          </select>
        )}
      </Field>
      {draft.kind === 'assistant'
        ? (
          <>
            <AssistantField draft={draft} set={set} />
            <InputField draft={draft} set={set} suggestion={suggestion} example={example} />
          </>
        )
        : <PromptFields draft={draft} set={set} />}
      <TextField label="Name of the output" value={draft.outputText ?? suggestion.outputText}
        hint="It has the text of the last message. Without a name, the whole state is the output."
        maxLength={200} autoComplete="off" change={(outputText) => set({ outputText })} />
    </>
  )
}

function AssistantField({ draft, set }: DraftFieldsProps) {
  const { data } = useQuery(assistantList)
  return (
    <Field label="Assistant" required>
      {(ids) => (
        <select {...ids} required value={draft.assistant}
          onChange={({ target }) => set({ assistant: target.value })}
        >
          {data?.length === 0 && <option value="">This server has none</option>}
          {data?.map(({ assistant_id: id, name, graph_id: graph }) => (
            <option key={id} value={id}>
              {name === '' || name === graph ? graph : `${name} (${graph})`}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function InputField({ draft, set, suggestion, example }: DraftFieldsProps & {
  readonly suggestion: ReturnType<typeof suggested>
  readonly example: Example | null | undefined
}) {
  const names = Object.keys(example?.inputs ?? {})
  return (
    <Field label="Input">
      {(ids) => (
        <select {...ids} value={draft.inputText ?? suggestion.inputText}
          onChange={({ target }) => set({ inputText: target.value })}
        >
          <option value="">All inputs of the example</option>
          {names.map((name) => (
            <option key={name} value={name}>A message of the user: {name}</option>
          ))}
        </select>
      )}
    </Field>
  )
}

function PromptFields({ draft, set }: DraftFieldsProps) {
  const { data: names = [] } = useQuery(promptNames)
  const { data: models } = useQuery(savedModels)
  // The one that the form was opened with may be of somebody else.
  const all = draft.prompt === '' || names.includes(draft.prompt)
    ? names
    : [draft.prompt, ...names]
  return (
    <>
      <Field label="Prompt" required hint="Its variables are the inputs of the example.">
        {(ids) => (
          <select {...ids} required value={draft.prompt}
            onChange={({ target }) => set({ prompt: target.value })}
          >
            <option value="">Choose …</option>
            {all.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        )}
      </Field>
      <Field label="Model">
        {(ids) => (
          <select {...ids} value={draft.model}
            onChange={({ target }) => set({ model: target.value })}
          >
            <option value="">That of the prompt, or the default</option>
            {models?.map(({ id, name }) => <option key={id} value={name}>{name}</option>)}
          </select>
        )}
      </Field>
    </>
  )
}
