/** The rail: the pages at the left (at the bottom of a phone), and the state of the connection. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { post } from '../api/client.ts'
import { pollEvery } from '../api/poll.ts'
import { serverInfo } from '../api/server.ts'
import type { Feature, ServerInfo } from '../api/server.ts'
import { Button } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon.tsx'
import { useIsLost } from './connection.ts'
import css from './rail.module.css'
import { chooseTheme, useTheme } from './theme.ts'

/** One page of the rail; with a feature it is there only where the server has that. */
export interface RailPage {
  readonly to: '/threads' | '/inbox' | '/assistants' | '/runs' | '/traces' | '/cluster' | '/limits'
  readonly label: string
  /** The label where there is little room. */
  readonly short?: string
  readonly icon: IconName
  readonly feature?: Feature
}

const pages: readonly RailPage[] = [
  { to: '/threads', label: 'Threads', icon: 'threads' },
  { to: '/inbox', label: 'Inbox', icon: 'inbox' },
  { to: '/assistants', label: 'Assistants', icon: 'assistants' },
  { to: '/runs', label: 'Runs', icon: 'runs' },
  { to: '/traces', label: 'Traces', icon: 'traces', feature: 'traces' },
  { to: '/cluster', label: 'Cluster', icon: 'cluster' },
  { to: '/limits', label: 'Limits & keys', short: 'Limits', icon: 'gauge' },
]

/** The pages of a server: a feature that it does not name may be there. */
export function pagesOf(info: ServerInfo | undefined): readonly RailPage[] {
  return pages.filter(({ feature }) => feature === undefined || info?.features?.[feature] !== false)
}

/** The rail. */
export function Rail() {
  const { data: info } = useQuery(serverInfo)
  const isLost = useIsLost()
  const { data: waiting } = useQuery({
    queryKey: ['threads', 'count', 'interrupted'],
    queryFn: ({ signal }) => post<number>('/threads/count', { status: 'interrupted' }, signal),
    refetchInterval: pollEvery(15_000),
  })
  return (
    <nav className={`${css['rail']} ${isLost ? css['lost'] : ''}`} aria-label="Studio">
      <Link to="/threads" className={css['brand']} search={{}}>
        <Mark />
        <span>Heddle</span>
      </Link>
      <ul>
        {pagesOf(info).map(({ to, label, short, icon }) => (
          <li key={to}>
            <Link to={to} search={{}} aria-label={short && label}
              activeProps={{ 'aria-current': 'page' }}
            >
              <Icon name={icon} />
              <span className={short && css['long']}>{label}</span>
              {short && <span className={css['short']}>{short}</span>}
              {to === '/inbox' && waiting !== undefined && waiting > 0 && (
                <b aria-label={`${waiting} waiting`}>{waiting > 999 ? '999+' : waiting}</b>
              )}
            </Link>
          </li>
        ))}
      </ul>
      <div className={css['foot']}>
        <span className={isLost ? css['away'] : css['here']} />
        <span role="status">{isLost ? lostWords : placeWords(info)}</span>
        <ThemeButton />
      </div>
    </nav>
  )
}

const lostWords = 'Connection lost: what you see may be old'

const placeWords = (info: ServerInfo | undefined): string =>
  info === undefined ? 'Connecting' : `${info.region?.name ?? 'local'} · ${info.version}`

function ThemeButton() {
  const other = useTheme() === 'dark' ? 'light' : 'dark'
  return (
    <Button kind="quiet" small className={css['theme']} label={`Switch to ${other} colours`}
      icon={<Icon name={other === 'light' ? 'sun' : 'moon'} />}
      onClick={() => chooseTheme(other)} />
  )
}
