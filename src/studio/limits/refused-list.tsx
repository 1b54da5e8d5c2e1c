/** Callers of the tenant that limits refused. */

import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'

import { limitsOf, refusedCallers } from '../api/limits.ts'
import { counted } from '../parts/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Table } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './limits.module.css'

/** The list, the last ones first. */
export function RefusedList() {
  const { data, error, refetch } = useQuery(refusedCallers)
  const { data: limits } = useQuery({ ...limitsOf(undefined), refetchInterval: false })
  if (error !== null) return <ErrorNotice error={error} retry={() => void refetch()} />
  if (data === undefined) return <Skeleton width="100%" height={120} />
  if (data.length === 0) {
    return (
      <Empty title="Nobody is refused">
        <p>Callers that exceed a limit stand here, as long as the servers remember them.</p>
      </Empty>
    )
  }
  const words = new Map(limits?.rows.map((row) => [row.id, row.words]))
  return (
    <Table className={css['table']} caption="Callers that limits refused, the last ones first"
      hasActs={false} columns={['Caller', 'Limit', 'Refusals', 'Last']}
    >
      {data.map(({ key_id: keyId, user, address, row, refused, last }) => (
        <tr key={`${keyId ?? user ?? address} ${row}`}>
          <th scope="row" dir="auto">
            {keyId !== undefined
              ? <Link to="/limits" search={{ key: keyId }}>key {keyId}</Link>
              : user ?? address}
          </th>
          <td data-label="Limit" title={row}>{words.get(row) ?? row}</td>
          <td data-label="Refusals">{counted(refused, 'time')}</td>
          <td data-label="Last">
            <TimeText iso={last} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
