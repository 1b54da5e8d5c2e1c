/** A prompt: its versions as a line, and one of them as messages, as JSON, or compared. */

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'

import { RunExperimentButton } from '../experiments/run-experiment-button.tsx'
import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowsPending } from '../rows/row-notice.tsx'
import { CommitDetail } from './commit-detail.tsx'
import { commitList, promptQuery } from './prompt-calls.ts'
import { PromptFacts } from './prompt-facts.tsx'
import css from './prompts.module.css'
import { VersionList } from './version-list.tsx'

/** Page of one prompt: its versions, and the chosen one. */
export function PromptPage() {
  const { name } = useParams({ from: '/prompts/$name' })
  const { at } = useSearch({ from: '/prompts/$name' })
  const prompt = useQuery(promptQuery(name))
  return (
    <>
      <PageHead title={name} acts={
        <>
          <Link to="/prompts" search={{}} className={buttonClass('quiet')}>All prompts</Link>
          <RunExperimentButton start={{ prompt: name }} />
          <Link to="/playground" search={{ prompt: name, at }} className={buttonClass()}>
            Open in playground
          </Link>
        </>
      }>
        {prompt.data && <PromptFacts prompt={prompt.data} />}
      </PageHead>
      {prompt.isError && prompt.data === undefined
        ? (
          <div className={css['notice']}>
            <ErrorNotice error={prompt.error} retry={() => void prompt.refetch()} />
          </div>
        )
        : <Versions key={name} name={name} />}
    </>
  )
}

function Versions({ name }: { readonly name: string }) {
  const { at } = useSearch({ from: '/prompts/$name' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const list = useInfiniteQuery(commitList(name))
  const { hasNextPage, isFetching, fetchNextPage } = list
  const commits = list.data?.pages.flatMap(({ commits: page }) => page)
  const asked = commits?.find(({ commit_hash: hash }) => at !== undefined && hash.startsWith(at))
  // An address may name a version of long ago.
  const isLooking = at !== undefined && asked === undefined && hasNextPage
  useEffect(() => {
    if (isLooking && !isFetching) void fetchNextPage()
  }, [isLooking, isFetching, fetchNextPage])
  if (commits === undefined || isLooking) {
    return <RowsPending pages={list} />
  }
  const [newest] = commits
  if (newest === undefined) {
    return (
      <Empty title="No version yet">
        <p>Save one in the playground.</p>
      </Empty>
    )
  }
  const shown = at === undefined ? newest : asked
  const changed = async () => {
    await queries.invalidateQueries({ queryKey: ['prompts'] })
    await navigate({ to: '/prompts/$name', params: { name }, search: {} })
  }
  return (
    <div className={css['columns']}>
      <VersionList name={name} commits={commits} shown={shown} more={hasNextPage
        ? { isFetching, fetch: () => void fetchNextPage() }
        : undefined} />
      {shown === undefined
        ? (
          <div className={css['detail']}>
            <Notice>This prompt has no such version.</Notice>
          </div>
        )
        : (
          <CommitDetail key={shown.commit_hash} name={name} commits={commits} commit={shown}
            changed={() => void changed()} />
        )}
    </div>
  )
}
