/** The store: namespaces at the left, their items at the right, one of them in a drawer. */

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { searchKinds } from '../addresses/store.ts'
import type { StoreSearch } from '../addresses/store.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Notice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { SearchBox } from '../rows/search-box.tsx'
import { ItemRows } from './item-rows.tsx'
import { NamespaceTree } from './namespace-tree.tsx'
import { itemPages } from './store-calls.ts'
import type { FoundItem, ItemQuestion } from './store-calls.ts'
import css from './store.module.css'

const ItemDrawer = lazy(async () => ({ default: (await import('./item-drawer.tsx')).ItemDrawer }))
const ItemForm = lazy(async () => ({ default: (await import('./item-form.tsx')).ItemForm }))

const kindWords = { words: 'By words', meaning: 'By meaning' } as const
const allNamespaces: readonly string[] = []

/** Page of the long-term memory of a tenant. */
export function StorePage() {
  const search = useSearch({ from: '/store' })
  const navigate = useNavigate()
  const go = (part: Partial<StoreSearch>, replace = false) =>
    void navigate({ to: '/store', search: { ...search, ...part }, replace })
  const { ns = allNamespaces, q = '', by = 'words', item, act } = search
  const question = useMemo<ItemQuestion>(() => ({ namespace: ns, text: q, by }), [ns, q, by])
  const { data, ...pages } = useInfiniteQuery({ ...itemPages(question),
    placeholderData: keepPreviousData })
  const rows = useMemo(() => data?.pages.flat(), [data])
  const refusal = useRefusal('Your key may only read.')
  const open = ({ namespace, key }: FoundItem) => go({ item: [...namespace, key] })
  const close = () => go({ item: undefined, act: undefined })
  return (
    <>
      <PageHead title="Store"
        acts={
          <Button kind="primary" icon={<Icon name="plus" />} disabled={refusal !== undefined}
            title={refusal} onClick={() => go({ act: 'new', item: undefined })}
          >
            New item
          </Button>
        }
      >
        <div className={css['filters']}>
          <SearchBox label="Search items" value={q}
            hint={ns.length === 0 ? 'Search all items …' : `Search in ${ns.at(-1)!.slice(0, 40)} …`}
            change={(text) => go({ q: text || undefined }, true)} />
          <Select aria-label="Search" value={by} onChange={({ target }) =>
            go({ by: searchKinds.find((each) => each === target.value && each !== 'words') }, true)}
          >
            {searchKinds.map((each) => <option key={each} value={each}>{kindWords[each]}</option>)}
          </Select>
        </div>
      </PageHead>
      <div className={css['columns']}>
        <NamespaceTree chosen={ns} />
        <div className={css['items']}>
          {by === 'meaning' && <MeaningNotice text={q} rows={rows} />}
          <ItemRows pages={pages} rows={rows} question={question} open={open} />
        </div>
      </div>
      <Suspense>
        {act === 'new'
          ? (
            <Dialog open side title="New item" close={close}>
              <ItemForm namespace={ns}
                saved={(labels, key) => go({ item: [...labels, key], act: undefined })} />
            </Dialog>
          )
          : item !== undefined && item.length > 1 && (
            <ItemDrawer key={JSON.stringify(item)} namespace={item.slice(0, -1)}
              itemKey={item.at(-1)!} isEdited={act === 'edit'} refusal={refusal} close={close}
              edit={(isEdited) => go({ act: isEdited ? 'edit' : undefined })} />
          )}
      </Suspense>
    </>
  )
}

/** A project without an index compares nothing. */
function MeaningNotice({ text, rows }: {
  readonly text: string
  readonly rows: readonly FoundItem[] | undefined
}) {
  const isUnanswered = text.trim() !== '' && rows !== undefined && rows.length > 0 &&
    rows.every(({ score }) => score === null)
  return isUnanswered && (
    <div className={css['notice']}>
      <Notice tone="waiting">
        Nothing here has a vector: these are the newest items. Items are found by meaning where{' '}
        <code>langgraph.json</code> has <code>store.index</code>.
      </Notice>
    </div>
  )
}
