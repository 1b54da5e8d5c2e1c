/** Prices: what models cost, from which the cost of threads and traces is counted. */

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'

import { deletePrice, ownPrices, usualPrices } from '../api/platform/prices.ts'
import { useRefusal } from '../api/refusal.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { draftFor, draftOf } from './price-draft.ts'
import { priceRows } from './price-rows.ts'
import type { PriceRow } from './price-rows.ts'
import css from './prices.module.css'

const PriceForm = lazy(async () => ({ default: (await import('./price-form.tsx')).PriceForm }))

/** Page of the prices. With a model in its address the form is open. */
export function PricesPage() {
  const own = useQuery(ownPrices)
  const usual = useQuery(usualPrices)
  const { q = '', model } = useSearch({ from: '/prices' })
  const navigate = useNavigate({ from: '/prices' })
  const refusal = useRefusal()
  const [changed, setChanged] = useState<PriceRow>()
  const [isNew, setNew] = useState(false)
  const [error, setError] = useState<unknown>()
  const rows = useMemo(() => priceRows(own.data ?? [], usual.data?.prices ?? [], q), [own.data,
    usual.data, q])
  const close = () => {
    setChanged(undefined)
    setNew(false)
    if (model !== undefined) {
      void navigate({ replace: true, search: (old) => ({ ...old, model: undefined }) })
    }
  }
  const remove = ({ own: price }: PriceRow) => {
    setError(undefined)
    if (price !== undefined) deletePrice(price.id).catch(setError)
  }
  const failed = own.error ?? usual.error
  const isOpen = isNew || changed !== undefined || model !== undefined
  return (
    <ListPage title="Prices" noun="price" total={rows.length}
      aside={usual.data && `built-in ones of ${usual.data.as_of}`}
      make={{ words: 'New price', refusal, act: () => setNew(true) }}
      search={{ q, hint: 'Model or provider …',
        filter: (q) => void navigate({ replace: true, search: (old) => ({ ...old, q }) }) }}
    >
      <div className="page">
        <p className={css['words']}>
          Dollars for a million tokens. The cost of threads and traces is counted from these.
          Built-in prices may be out of date: check them with the provider. A price of your own
          comes first.
        </p>
        {error !== undefined && <ErrorNotice error={error} />}
        {failed !== null && (
          <ErrorNotice error={failed} retry={() =>
            void Promise.all([own.refetch(), usual.refetch()])} />
        )}
        {failed === null && (own.isPending || usual.isPending) && (
          <Skeleton width="100%" height={240} />
        )}
        {own.isSuccess && usual.isSuccess && (rows.length === 0
          ? (
            <Empty title="No price matches">
              <p>Set one with “New price”.</p>
            </Empty>
          )
          : <Rows rows={rows} refusal={refusal} change={setChanged} remove={remove} />)}
      </div>
      <Suspense>
        {isOpen && own.isSuccess && (
          <PriceForm key={changed?.key ?? model ?? ''} own={changed?.own} close={close}
            begin={changed === undefined ? draftFor(model ?? '') : draftOf(changed)} />
        )}
      </Suspense>
    </ListPage>
  )
}

const cost = (value: number | null): string => value === null ? 'as input' : `$${value}`

function Rows({ rows, refusal, change, remove }: {
  readonly rows: readonly PriceRow[]
  readonly refusal: string | undefined
  readonly change: (row: PriceRow) => void
  readonly remove: (row: PriceRow) => void
}) {
  return (
    <>
      <Table caption="Prices of models" className={css['table']}
        columns={['Model', 'Provider', { number: 'Input' }, { number: 'Cached input' }, {
          number: 'Output',
        }]}
      >
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row" dir="auto" title={row.name}>
              <span className={css['name']}>{row.name}</span>
              {row.own !== undefined && <Chip tone="accent">yours</Chip>}
            </th>
            <td data-label="Provider" dir="auto">{row.provider || 'any'}</td>
            <td data-label="Input" className={cellClass.number}>{cost(row.input)}</td>
            <td data-label="Cached input" className={cellClass.number}>{cost(row.cachedInput)}</td>
            <td data-label="Output" className={cellClass.number}>{cost(row.output)}</td>
            <td className={cellClass.acts}>
              <Button small kind="quiet" disabled={refusal !== undefined} title={refusal}
                onClick={() => change(row)}
              >
                Change<span className="unseen">{row.name}</span>
              </Button>
              {row.own !== undefined && (
                <Button small kind="danger" disabled={refusal !== undefined} title={refusal}
                  onClick={() => remove(row)}
                >
                  Delete<span className="unseen">{row.name}</span>
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      <p className={css['words']} role="status">{counted(rows.length, 'price')}</p>
    </>
  )
}
