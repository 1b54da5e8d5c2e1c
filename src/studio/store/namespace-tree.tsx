/** Namespaces as a tree. A branch is read when it is opened, a page at a time. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { childPages } from './store-calls.ts'
import css from './store.module.css'

/** The tree; `chosen` are the labels of the namespace that is shown, none for all. */
export function NamespaceTree({ chosen }: { readonly chosen: readonly string[] }) {
  return (
    <nav className={css['tree']} aria-label="Namespaces">
      <Link to="/store" search={{}} className={css['all']} activeOptions={{ exact: true }}
        aria-current={chosen.length === 0 ? 'page' : undefined}
      >
        All namespaces
      </Link>
      <Branch namespace={[]} chosen={chosen} />
    </nav>
  )
}

function Branch({ namespace, chosen }: {
  readonly namespace: readonly string[]
  readonly chosen: readonly string[]
}) {
  const list = useInfiniteQuery(childPages(namespace))
  if (list.data === undefined) {
    return list.isError
      ? <ErrorNotice error={list.error} retry={() => void list.refetch()} />
      : <Skeleton width="70%" />
  }
  const depth = namespace.length
  // A label may be "*", which the API takes for any label.
  const children = list.data.pages.flat().filter((each) =>
    each.length === depth + 1 && namespace.every((label, at) => label === each[at])
  )
  if (children.length === 0) {
    return <p className={css['none']}>{depth === 0 ? 'No items yet' : 'No further labels'}</p>
  }
  return (
    <>
      <ul>
        {children.map((each) => <Label key={each.at(-1)} namespace={each} chosen={chosen} />)}
      </ul>
      {list.hasNextPage && (
        <Button kind="quiet" small disabled={list.isFetchingNextPage} onClick={() =>
          void list.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </>
  )
}

function Label({ namespace, chosen }: {
  readonly namespace: readonly string[]
  readonly chosen: readonly string[]
}) {
  const isAbove = namespace.every((label, at) => label === chosen[at])
  const [opened, setOpened] = useState<boolean>()
  // The way to what an address shows is open at first.
  const isOpen = opened ?? (isAbove && chosen.length > namespace.length)
  const label = namespace.at(-1)!
  const short = label.length > 80 ? `${label.slice(0, 80)}…` : label
  return (
    <li>
      <span className={css['label']}>
        <button type="button" aria-expanded={isOpen} aria-label={`Labels below ${short}`}
          onClick={() => setOpened(!isOpen)}
        >
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
        </button>
        <Link to="/store" search={{ ns: namespace }} dir="auto" title={short} preload={false}
          activeOptions={{ exact: true }}
          aria-current={isAbove && chosen.length === namespace.length ? 'page' : undefined}
        >
          {label}
        </Link>
      </span>
      {isOpen && (
        <div className={css['below']}>
          <Branch namespace={namespace} chosen={chosen} />
        </div>
      )}
    </li>
  )
}
