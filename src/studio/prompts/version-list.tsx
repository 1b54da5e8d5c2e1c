/** The versions of a prompt, the newest first. */

import { Link, useSearch } from '@tanstack/react-router'

import type { Commit } from '../../api/index.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './prompts.module.css'

/** The list, as far as it was asked for. */
export function VersionList({ name, commits, shown, more }: {
  readonly name: string
  readonly commits: readonly Commit[]
  readonly shown: Commit | undefined
  /** Older ones; undefined if these are all. */
  readonly more: { readonly isFetching: boolean; readonly fetch: () => void } | undefined
}) {
  return (
    <ol className={css['commits']} aria-label="Versions" tabIndex={0}>
      {commits.map((commit, at) => (
        <li key={commit.commit_hash}>
          <Version name={name} commit={commit} isShown={commit === shown} isNewest={at === 0} />
        </li>
      ))}
      {more && (
        <li className={css['older']}>
          <Button small disabled={more.isFetching} onClick={more.fetch}>Older versions</Button>
        </li>
      )}
    </ol>
  )
}

function Version({ name, commit, isShown, isNewest }: {
  readonly name: string
  readonly commit: Commit
  readonly isShown: boolean
  readonly isNewest: boolean
}) {
  const search = useSearch({ from: '/prompts/$name' })
  const { commit_hash: hash, created_at: at, full_name: by, description, tags } = commit
  return (
    <Link to="/prompts/$name" params={{ name }} aria-current={isShown ? 'page' : undefined}
      search={{ ...search, at: hash, vs: search.vs === hash ? undefined : search.vs }}
    >
      <span className={css['hash']}>
        <code>{hash.slice(0, 8)}</code>
        {isNewest && <small>newest</small>}
        {tags.map((tag) => <Chip key={tag} tone="accent" title={tag}>{tag}</Chip>)}
      </span>
      {description && <span dir="auto" title={description}>{description}</span>}
      <span className={css['meta']}>
        <TimeText iso={at} />
        {by !== null && ` by ${by}`}
      </span>
    </Link>
  )
}
