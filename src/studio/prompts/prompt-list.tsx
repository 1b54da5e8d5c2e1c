/** The prompts: by what is said of them, each with its versions and likes. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'

import type { Prompt } from '../../api/index.ts'
import { counted } from '../parts/amounts.ts'
import { buttonClass } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { ListPage, NoMatch } from '../rows/list-page.tsx'
import { RowList } from '../rows/row-list.tsx'
import { LikeButton } from './like-button.tsx'
import { promptList } from './prompt-calls.ts'
import css from './prompts.module.css'

/** Tags of a prompt that a row has room for. */
const tagsShown = 3

/** Page of the prompts, with a search and a filter by tag. */
export function PromptList() {
  const { q = '', tag } = useSearch({ from: '/prompts' })
  const navigate = useNavigate()
  const list = useInfiniteQuery(promptList(q, tag))
  const rows = useMemo(() => list.data?.pages.flatMap(({ repos }) => repos), [list.data])
  const total = list.data?.pages[0]?.total
  return (
    <ListPage title="Prompts" noun="prompt" total={total}
      search={{ q, hint: 'Filter by name or description …',
        filter: (q) => void navigate({ to: '/prompts', search: { q, tag }, replace: true }) }}
      acts={<Link to="/playground" search={{}} className={buttonClass()}>Playground</Link>}
      filters={tag !== undefined && (
        <div>
          <Link to="/prompts" search={{ q: q || undefined }} className={buttonClass('plain', true)}>
            Tag {tag}: show all
          </Link>
        </div>
      )}
    >
      <RowList pages={list} rows={rows} total={total} label="Prompts" noun="prompt" rowHeight={56}
        row={(prompt) => <Row prompt={prompt} />} place={`prompts ${q} ${tag}`}
        open={({ repo_handle: name }) =>
          void navigate({ to: '/prompts/$name', params: { name }, search: {} })}
        empty={<NoPrompts isFiltered={q !== '' || tag !== undefined} />} />
    </ListPage>
  )
}

function Row({ prompt }: { readonly prompt: Prompt | undefined }) {
  if (prompt === undefined) {
    return (
      <div className={css['row']} role="gridcell">
        <Skeleton width={180} />
      </div>
    )
  }
  const { repo_handle: name, description, tags, num_commits: commits, updated_at: at } = prompt
  return (
    <div className={css['row']} role="presentation">
      <span role="gridcell" className={css['name']}>
        <span>
          <Link to="/prompts/$name" params={{ name }} search={{}} tabIndex={-1} title={name}>
            {name}
          </Link>
          {prompt.is_public && <Chip tone="accent">public</Chip>}
          {tags.slice(0, tagsShown).map((each) => (
            <Link key={each} to="/prompts" search={{ tag: each }} tabIndex={-1}>
              <Chip title={each}>{each}</Chip>
            </Link>
          ))}
          {tags.length > tagsShown && <small>+{tags.length - tagsShown}</small>}
        </span>
        {description && <span dir="auto" title={description}>{description}</span>}
      </span>
      <span role="gridcell" className={css['number']}>{counted(commits, 'version')}</span>
      <span role="gridcell" className={css['number']}>
        <TimeText iso={at} />
      </span>
      <span role="gridcell">
        <LikeButton prompt={prompt} />
      </span>
    </div>
  )
}

function NoPrompts({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? <NoMatch noun="prompt" by="The name or the description" />
    : (
      <Empty title="No prompts yet">
        <p>Save one in the playground, or push one with a LangSmith client.</p>
      </Empty>
    )
}
