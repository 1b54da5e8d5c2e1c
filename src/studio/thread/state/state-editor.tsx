/** Edits the state of a step. What changed is written as a new step. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useState } from 'react'

import { graphPicture } from '../../api/assistants.ts'
import type { JsonObject } from '../../api/client.ts'
import { stateAt, writeState } from '../../api/states.ts'
import type { ThreadState } from '../../api/states.ts'
import { boxesAround } from '../../graph/drawing.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Select } from '../../parts/field.tsx'
import { JsonEditor } from '../../json/json-editor.tsx'
import { messageOf } from '../../parts/error-message.ts'
import { Notice } from '../../parts/notice.tsx'
import { mergedChannels, overwrites, readEdit, writesOf } from './state-edit.ts'
import css from './state.module.css'

/** The state that is edited. */
export interface StateEditorProps {
  readonly threadId: string
  readonly state: ThreadState
  readonly assistantId: string | undefined
  /** The thread has newer steps than the one that is edited. */
  readonly hasMovedOn: boolean
  readonly close: () => void
  readonly edited: (checkpointId: string) => void
}

/** Channels of a written edit of which a reducer made other values. */
interface Merged {
  readonly checkpointId: string
  readonly names: readonly string[]
}

/** Editor of the state of a step as JSON. */
export function StateEditor(props: StateEditorProps) {
  const { state, hasMovedOn, close, edited } = props
  const before = state.values ?? {}
  const first = useMemo(() => JSON.stringify(before, null, 2), [state])
  const [text, setText] = useState(first)
  const [node, setNode] = useState('')
  const settled = useDeferredValue(text)
  const edit = useMemo(() => readEdit(before, settled), [settled, state])
  const { save, merged, overwrite } = useSaving(props, before, node)
  const names = edit.kind === 'edit' ? Object.keys(edit.wanted) : []
  const failed = save.error ?? overwrite.error
  const fault = edit.kind === 'fault' ? edit.fault : failed === null ? undefined : messageOf(failed)
  const wanted = edit.kind === 'edit' ? edit.wanted : {}
  return (
    <section className={css['state']} aria-label="Edit the state">
      <header className={css['bar']}>
        <span className={css['steps']}>{`Edit step ${state.metadata?.step ?? ''}`}</span>
        <label className={css['node']}>
          Write as
          <NodeChoice assistantId={props.assistantId} node={node} choose={setNode} />
        </label>
        <span className={css['acts']}>
          <Button small onClick={close}>Cancel</Button>
          <Button small kind="primary" onClick={() => save.mutate(wanted)}
            disabled={names.length === 0 || save.isPending || settled !== text}
            title={names.length === 0 ? 'Nothing has changed yet.' : undefined}
          >
            {save.isPending ? 'Saving …' : 'Save as a new step'}
          </Button>
        </span>
      </header>
      <div className={css['edit']}>
        {hasMovedOn && (
          <Notice>The thread has newer steps. Saving starts a branch at this one.</Notice>
        )}
        {merged !== undefined && (
          <MergedNotice {...merged} keep={() => edited(merged.checkpointId)} replace={() =>
            overwrite.mutate(wanted)} isBusy={overwrite.isPending} />
        )}
        <JsonEditor label="State as JSON" text={text} change={setText} fault={fault} fill />
        <Written names={names} missing={edit.kind === 'edit' ? edit.missing : []} />
      </div>
    </section>
  )
}

/** Writes, and looks whether the channels hold then what was wanted. */
function useSaving({ threadId, state, edited }: StateEditorProps, before: JsonObject,
  node: string) {
  const [merged, setMerged] = useState<Merged>()
  const write = async (values: JsonObject, at: string | undefined) => {
    const { checkpoint } = await writeState(threadId, { values, checkpoint_id: at,
      as_node: node === '' ? undefined : node })
    return checkpoint.checkpoint_id
  }
  const save = useMutation({
    mutationFn: async (wanted: JsonObject) => {
      const id = await write(writesOf(before, wanted), state.checkpoint_id ?? undefined)
      const now = await stateAt(threadId, id, ['values'])
      return { checkpointId: id, names: mergedChannels(wanted, now.values ?? {}) }
    },
    onSuccess: (made) => made.names.length === 0 ? edited(made.checkpointId) : setMerged(made),
  })
  const overwrite = useMutation({
    mutationFn: (wanted: JsonObject) =>
      write(overwrites(wanted, merged!.names), merged!.checkpointId),
    onSuccess: edited,
  })
  return { save, merged, overwrite }
}

function NodeChoice({ assistantId, node, choose }: {
  readonly assistantId: string | undefined
  readonly node: string
  readonly choose: (node: string) => void
}) {
  const { data } = useQuery({ ...graphPicture(assistantId ?? ''),
    enabled: assistantId !== undefined })
  const names = [
    ...new Set((data?.nodes ?? []).map(({ id }) => boxesAround(String(id))[0] ?? String(id))),
  ].filter((name) => name !== '__end__')
  return (
    <Select value={node} onChange={({ target }) => choose(target.value)}>
      <option value="">the last node</option>
      {names.map((name) => (
        <option key={name} value={name}>{name === '__start__' ? 'the input' : name}</option>
      ))}
    </Select>
  )
}

function Written({ names, missing }: {
  readonly names: readonly string[]
  readonly missing: readonly string[]
}) {
  if (names.length === 0 && missing.length === 0) return null
  return (
    <p className={css['written']} role="status">
      {names.length > 0 && <span>Writes</span>}
      {names.map((name) => <Chip key={name} tone="accent" title={name}>{name}</Chip>)}
      {missing.length > 0 && (
        <span>
          {`${missing.join(', ')} ${missing.length === 1 ? 'stays' : 'stay'} as it is: ` +
            'a channel cannot be removed, but can be null.'}
        </span>
      )}
    </p>
  )
}

function MergedNotice({ names, keep, replace, isBusy }: Merged & {
  readonly keep: () => void
  readonly replace: () => void
  readonly isBusy: boolean
}) {
  return (
    <Notice tone="waiting">
      <p>
        {`The reducer of ${names.join(', ')} merged what you wrote with what was there. ` +
          'The step is made. Write your value in its place?'}
      </p>
      <div className={css['acts']}>
        <Button small kind="primary" disabled={isBusy} onClick={replace}>Replace it</Button>
        <Button small onClick={keep}>Keep what the reducer made</Button>
      </div>
    </Notice>
  )
}
