/** Saves what is in the playground as a version of a prompt. */

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import { ApiError } from '../api/client.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Input } from '../parts/field.tsx'
import { makeCommit, makePrompt } from '../prompts/prompt-calls.ts'
import { SaveError } from '../prompts/save-error.tsx'
import css from './playground.module.css'

/** The form. A prompt that does not exist is made. */
export function SaveForm({ prompt = '', parent: first, manifest }: {
  readonly prompt: string | undefined
  /** The newest version when the playground was opened. */
  readonly parent: string | undefined
  readonly manifest: unknown
}) {
  const [name, setName] = useState(prompt)
  const [parent, setParent] = useState(first)
  const refusal = useRefusal()
  const save = useMutation({
    mutationFn: async (onTop: boolean) => {
      if (name !== prompt) {
        await makePrompt(name, '').catch((caught: unknown) => {
          if (!(caught instanceof ApiError && caught.status === 409)) throw caught
        })
      }
      const known = name === prompt && !onTop ? parent : undefined
      const { commit } = await makeCommit(name, { manifest, parent: known })
      if (name === prompt && parent !== undefined) setParent(commit.commit_hash)
      return name
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['prompts'] }),
  })
  return (
    <form onSubmit={(event) => {
      event.preventDefault()
      save.mutate(false)
    }}>
      <div className={css['bar']}>
        <Input aria-label="Name of the prompt" placeholder="Name of a prompt" value={name}
          spellCheck={false} onChange={({ target }) => setName(target.value)} />
        <Button type="submit" title={refusal}
          disabled={name === '' || refusal !== undefined || save.isPending}
        >
          Save as a version
        </Button>
        {save.isSuccess && (
          <span role="status">
            Saved:{' '}
            <Link to="/prompts/$name" params={{ name: save.data }} search={{}}>{save.data}</Link>
          </span>
        )}
      </div>
      {save.isError && <SaveError error={save.error} onTop={() => save.mutate(true)} />}
    </form>
  )
}
