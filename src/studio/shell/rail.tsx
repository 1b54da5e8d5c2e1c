/** The rail: the pages at the left (at the bottom of a phone), and the state of the connection. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { serverInfo } from '../api/server.ts'
import type { ServerInfo } from '../api/server.ts'
import { countsQuery, failedQuery } from '../api/threads.ts'
import { Button } from '../parts/button.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { usePhone } from '../parts/room/phone.ts'
import { useIsLost } from './connection.ts'
import { DeploymentSwitch } from './deployment-switch.tsx'
import { PageGroups, PageLink } from './page-links.tsx'
import { PhoneMore } from './phone-more.tsx'
import css from './rail.module.css'
import { groupsOf, hasFeature, phonePagesOf } from './rail-pages.ts'
import { chooseTheme, useTheme } from './theme.ts'

/**
 * Rail with the pages, at the left or at the bottom of a phone, and the state of the connection.
 */
export function Rail() {
  const { data: info } = useQuery(serverInfo)
  const isLost = useIsLost()
  const isPhone = usePhone()
  const { data: counts } = useQuery(countsQuery({}))
  const { data: failed = [] } = useQuery({ ...failedQuery, enabled: (counts?.error ?? 0) > 0 })
  const waiting = counts && counts.interrupted + failed.length
  const foot = (
    <div className={css['foot']}>
      <span className={isLost ? css['away'] : css['here']} />
      <span role="status">{isLost ? lostWords : placeWords(info)}</span>
      <ThemeButton />
    </div>
  )
  if (isPhone) {
    const { first, rest } = phonePagesOf(info)
    return (
      <nav className={`${css['rail']} ${isLost ? css['lost'] : ''}`} aria-label="Studio">
        {isLost && foot}
        <ul className={css['bar']}>
          {first.map((page) => (
            <li key={page.to}>
              <PageLink page={page} waiting={waiting} />
            </li>
          ))}
          <li>
            <PhoneMore>
              {hasFeature(info, 'deployments') && <DeploymentSwitch />}
              <PageGroups groups={rest} />
              {!isLost && foot}
            </PhoneMore>
          </li>
        </ul>
      </nav>
    )
  }
  return (
    <nav className={`${css['rail']} ${isLost ? css['lost'] : ''}`} aria-label="Studio">
      <Link to="/threads" className={css['brand']} search={{}}>
        <Mark />
        <span>Heddle</span>
      </Link>
      {hasFeature(info, 'deployments') && <DeploymentSwitch />}
      <PageGroups groups={groupsOf(info)} waiting={waiting} />
      {foot}
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
