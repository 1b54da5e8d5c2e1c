/** One item: its value as a tree, its times, and what may be done with it. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import { JsonTree } from '../json/json-tree.tsx'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { DeleteButton } from '../parts/delete-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Moment, TimeUntil } from '../parts/times/time-text.tsx'
import { ItemForm } from './item-form.tsx'
import { deleteItem, itemQuery } from './store-calls.ts'
import type { StoredItem } from './store-calls.ts'
import css from './store.module.css'

/** The drawer of an item by its labels and its key. */
export function ItemDrawer({ namespace, itemKey, isEdited, edit, refusal, close }: {
  readonly namespace: readonly string[]
  readonly itemKey: string
  readonly isEdited: boolean
  readonly edit: (isEdited: boolean) => void
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const { data, error, refetch } = useQuery({ ...itemQuery(namespace, itemKey),
    refetchOnWindowFocus: !isEdited })
  return (
    <Dialog open side title={isEdited ? 'Edit the item' : 'Item'} close={close}>
      {data === undefined
        ? error !== null
          ? <ErrorNotice error={error} retry={() => void refetch()} />
          : <Skeleton width="100%" height={160} />
        : data === null
        ? <Notice>There is no such item. It may have been deleted, or have expired.</Notice>
        : isEdited
        ? <ItemForm before={data} namespace={namespace} saved={() => edit(false)} />
        : <Shown item={data} edit={() => edit(true)} refusal={refusal} close={close} />}
    </Dialog>
  )
}

function Shown({ item, edit, refusal, close }: {
  readonly item: StoredItem
  readonly edit: () => void
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const { namespace, key, value, ttl } = item
  return (
    <div className={css['item']}>
      <dl className={css['facts']}>
        <dt>Namespace</dt>
        <dd dir="auto">{namespace.join(' › ')}</dd>
        <dt>Key</dt>
        <dd dir="auto">{key}</dd>
        <dt>Created</dt>
        <dd>
          <Moment iso={item.created_at} seconds />
        </dd>
        <dt>Updated</dt>
        <dd>
          <Moment iso={item.updated_at} seconds />
        </dd>
        <dt>Expires</dt>
        <dd>
          {ttl == null ? 'never' : (
            <>
              <TimeUntil iso={ttl.expires_at} /> · <Moment iso={ttl.expires_at} />
            </>
          )}
        </dd>
      </dl>
      <div className={css['value']}>
        <JsonTree value={value} name="value" open={2} />
      </div>
      <div className={css['acts']}>
        <DeleteItem item={item} refusal={refusal} close={close} />
        <CopyButton label="Copy the value" text={() => JSON.stringify(value, null, 2)} />
        <Button icon={<Icon name="edit" size={14} />} disabled={refusal !== undefined}
          title={refusal} onClick={edit}
        >
          Edit
        </Button>
      </div>
    </div>
  )
}

function DeleteItem({ item: { namespace, key }, refusal, close }: {
  readonly item: StoredItem
  readonly refusal: string | undefined
  readonly close: () => void
}) {
  const cache = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteItem(namespace, key),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: ['store'] })
      close()
    },
  })
  return (
    <>
      {remove.error !== null && <ErrorNotice error={remove.error} />}
      <DeleteButton disabled={refusal !== undefined || remove.isPending} title={refusal}
        act={() => remove.mutate()} />
    </>
  )
}
