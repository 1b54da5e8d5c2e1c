/** One version: what it says, what it changed, its tags, and what may be made of it. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReactNode } from 'react'

import type { Commit } from '../../api/index.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Input, Select } from '../parts/field.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { manifestOf, messagesOf } from './manifest.ts'
import type { Message } from './manifest.ts'
import { MessageEditor } from './message-editor.tsx'
import { makeCommit, manifestQuery, moveTag } from './prompt-calls.ts'
import type { NewCommit } from './prompt-calls.ts'
import css from './prompts.module.css'
import { SaveError } from './save-error.tsx'
import { WordChanges } from './word-changes.tsx'

interface DetailProps {
  readonly name: string
  readonly commits: readonly Commit[]
  readonly commit: Commit
  /** A version was made, or a tag moved. */
  readonly changed: () => void
}

/** Words that somebody wrote, and what was the newest version when they began. */
interface Draft {
  readonly messages: readonly Message[]
  readonly parent: string
}

/** A version of a prompt: its messages, its JSON or its changes, and the actions on it. */
export function CommitDetail(props: DetailProps) {
  const { name, commit: { commit_hash: hash } } = props
  const { view } = useSearch({ from: '/prompts/$name' })
  const manifest = useQuery(manifestQuery(name, hash))
  if (manifest.data === undefined) {
    return (
      <div className={css['detail']} aria-busy={!manifest.isError}>
        {manifest.isError
          ? <ErrorNotice error={manifest.error} retry={() => void manifest.refetch()} />
          : <Skeleton width="100%" height={120} />}
      </div>
    )
  }
  return (
    <div className={css['detail']} role="region" aria-label="Version" tabIndex={0}>
      <Pulled {...props} manifest={manifest.data.manifest} view={view} />
    </div>
  )
}

function Pulled({ name, commits, commit, changed, manifest, view }: DetailProps & {
  readonly manifest: unknown
  readonly view: 'json' | undefined
}) {
  const { commit_hash: hash } = commit
  const head = commits[0]!.commit_hash
  const search = useSearch({ from: '/prompts/$name' })
  const navigate = useNavigate()
  const [draft, setDraft] = useState<Draft>()
  const refusal = useRefusal()
  const make = useMutation({ mutationFn: (made: NewCommit) => makeCommit(name, made),
    onSuccess: changed })
  const first = messagesOf(manifest)
  const messages = draft?.messages ?? first
  const edit = (next: readonly Message[]) => {
    setDraft({ messages: next, parent: draft?.parent ?? head })
    // A newer version of somebody else must not take its place while it is edited.
    if (search.at === undefined) {
      void navigate({ to: '/prompts/$name', params: { name }, search: { ...search, at: hash },
        replace: true })
    }
  }
  return (
    <>
      <div className={css['bar']}>
        <CompareChoice name={name} commits={commits} commit={commit} />
        {hash !== head && (
          <Button disabled={refusal !== undefined || make.isPending} title={refusal} onClick={() =>
            make.mutate({ manifest, parent: head, description: `As in ${hash.slice(0, 8)}` })}
          >
            Restore
          </Button>
        )}
        <TagForm name={name} commit={commit} changed={changed} />
      </div>
      {draft === undefined && make.isError && (
        <SaveError error={make.error} onTop={() =>
          make.mutate({ ...make.variables!, parent: undefined })} />
      )}
      <Comparison name={name} manifest={manifest} />
      {view === 'json' || messages === undefined
        ? <JsonTree value={manifest} name="manifest" open={4} />
        : <MessageEditor messages={messages} change={edit} disabled={refusal !== undefined} />}
      {draft !== undefined && (
        <DraftBar
          error={make.isError && (
            <SaveError error={make.error} onTop={() =>
              make.mutate({ ...make.variables!, parent: undefined })} />
          )}
          isBusy={make.isPending}
          discard={() => {
            make.reset()
            setDraft(undefined)
          }}
          save={(description) =>
            make.mutate({ manifest: manifestOf(draft.messages, manifest), parent: draft.parent,
              description })}
        />
      )}
    </>
  )
}

function DraftBar({ isBusy, save, discard, error }: {
  readonly isBusy: boolean
  readonly save: (description: string) => void
  readonly discard: () => void
  readonly error: ReactNode
}) {
  const [words, setWords] = useState('')
  return (
    <form className={css['draft']} aria-label="New version" onSubmit={(event) => {
      event.preventDefault()
      save(words.trim())
    }}>
      <div className={css['bar']}>
        <Input aria-label="What it changes" placeholder="What it changes" value={words} dir="auto"
          maxLength={4_000} onChange={({ target }) => setWords(target.value)} />
        <Button type="submit" kind="primary" disabled={isBusy}>Save as a version</Button>
        <Button onClick={discard}>Discard</Button>
      </div>
      {error}
    </form>
  )
}

function CompareChoice({ name, commits, commit }: Omit<DetailProps, 'changed'>) {
  const search = useSearch({ from: '/prompts/$name' })
  const navigate = useNavigate()
  const show = (part: { vs?: string | undefined; view?: 'json' | undefined }) =>
    void navigate({ to: '/prompts/$name', params: { name }, search: { ...search, ...part },
      replace: true })
  const { vs, view } = search
  return (
    <>
      <Select aria-label="Compare with" value={vs ?? ''}
        onChange={({ target }) => show({ vs: target.value || undefined })}
      >
        <option value="">Compare with …</option>
        {vs !== undefined && commits.every((each) => each.commit_hash !== vs) && (
          <option value={vs}>{vs.slice(0, 8)}</option>
        )}
        {commits.filter((each) => each !== commit).map((each) => (
          <option key={each.commit_hash} value={each.commit_hash}>
            {each.commit_hash.slice(0, 8)} {each.tags.join(', ')}
          </option>
        ))}
      </Select>
      <Button aria-pressed={view === 'json'}
        onClick={() => show({ view: view === 'json' ? undefined : 'json' })}
      >
        JSON
      </Button>
    </>
  )
}

function Comparison({ name, manifest }: { readonly name: string; readonly manifest: unknown }) {
  const { vs } = useSearch({ from: '/prompts/$name' })
  const other = useQuery({ ...manifestQuery(name, vs ?? ''), enabled: vs !== undefined })
  if (vs === undefined) return null
  if (other.isError) {
    return <ErrorNotice error={other.error} retry={() => void other.refetch()} />
  }
  return other.data === undefined
    ? <Skeleton width="100%" height={60} />
    : <WordChanges before={other.data.manifest} after={manifest} />
}

function TagForm({ name, commit, changed }: Omit<DetailProps, 'commits'>) {
  const [tag, setTag] = useState('')
  const refusal = useRefusal()
  const move = useMutation({ mutationFn: () => moveTag(name, tag.trim(), commit.id),
    onSuccess: () => {
      setTag('')
      changed()
    } })
  const isOff = refusal !== undefined
  return (
    <form className={css['tagging']} onSubmit={(event) => {
      event.preventDefault()
      move.mutate()
    }}>
      <Input aria-label="Tag" placeholder="production" value={tag} disabled={isOff} title={refusal}
        onChange={({ target }) => setTag(target.value)} />
      <Button type="submit" disabled={isOff || tag.trim() === '' || move.isPending}>
        Tag this version
      </Button>
      {move.isError && <ErrorNotice error={move.error} />}
    </form>
  )
}
