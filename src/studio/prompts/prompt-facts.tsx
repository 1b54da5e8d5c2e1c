/** Line below the name of a prompt: its purpose, its tags, its visibility, its likes. */

import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'

import type { Prompt } from '../../api/index.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { LikeButton } from './like-button.tsx'
import { showPrompt } from './prompt-calls.ts'
import css from './prompts.module.css'

const Dialog = lazy(async () => ({ default: (await import('../parts/dialog.tsx')).Dialog }))

/** Description, tags, visibility and likes of a prompt. */
export function PromptFacts({ prompt }: { readonly prompt: Prompt }) {
  const { repo_handle: name, full_name: full, description, tags, is_public: isPublic } = prompt
  const refusal = useRefusal()
  const [asking, setAsking] = useState(false)
  const show = useMutation({
    mutationFn: (next: boolean) => showPrompt(name, next),
    onSuccess: async () => {
      setAsking(false)
      await queries.invalidateQueries({ queryKey: ['prompts'] })
    },
  })
  return (
    <>
      {description && <p className={css['purpose']} dir="auto">{description}</p>}
      <div className={css['bar']}>
        <Chip tone={isPublic ? 'accent' : 'plain'}>{isPublic ? 'public' : 'private'}</Chip>
        {isPublic && (
          <span className={css['handle']}>
            <code>{full}</code>
            <CopyButton text={full} label="Copy the public name" />
          </span>
        )}
        {tags.map((tag) => (
          <Link key={tag} to="/prompts" search={{ tag }}>
            <Chip title={tag}>{tag}</Chip>
          </Link>
        ))}
        <LikeButton prompt={prompt} />
        <Button small kind="quiet" disabled={refusal !== undefined || show.isPending}
          title={refusal} onClick={() => isPublic ? show.mutate(false) : setAsking(true)}
        >
          {isPublic ? 'Make private' : 'Make public'}
        </Button>
      </div>
      {!asking && show.isError && <ErrorNotice error={show.error} />}
      {asking && (
        <Suspense>
          <Dialog open close={() => setAsking(false)} title="Make public">
            <div className={css['dialog']}>
              <p>
                Everybody who reaches this server may read all versions of {name}, without a key.
              </p>
              {show.isError && <ErrorNotice error={show.error} />}
              <footer>
                <Button onClick={() => setAsking(false)}>Cancel</Button>
                <Button kind="primary" disabled={show.isPending} onClick={() => show.mutate(true)}>
                  Make public
                </Button>
              </footer>
            </div>
          </Dialog>
        </Suspense>
      )}
    </>
  )
}
