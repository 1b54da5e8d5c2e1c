/** The frame of every page: rail, page, and the sign-in screen where the server asks for it. */

import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'

import { useSession } from '../session.ts'
import { useKeys } from '../parts/keys.ts'
import { Overlays } from './overlays.tsx'
import { Rail } from './rail.tsx'
import css from './shell.module.css'

const OfferedSession = lazy(async () => ({
  default: (await import('./offered-session.tsx')).OfferedSession,
}))
const SignIn = lazy(async () => ({ default: (await import('./sign-in.tsx')).SignIn }))

/** The frame. Pages that need no credential have none. */
export function Shell() {
  const isPublic = useRouterState({
    select: ({ location }) => /\/public\/./.test(location.pathname),
  })
  return isPublic
    ? (
      <main id="main" tabIndex={-1} className={css['page']}>
        <Outlet />
      </main>
    )
    : <Frame />
}

function Frame() {
  const { offered, needed, elsewhere } = useSession()
  const inThread = useRouterState({
    select: ({ location }) => /\/threads\/./.test(location.pathname),
  })
  const navigate = useNavigate()
  useKeys('Everywhere', {
    'g t': { words: 'Threads', act: () => void navigate({ to: '/threads', search: {} }) },
    'g i': { words: 'Inbox', act: () => void navigate({ to: '/inbox', search: {} }) },
    'g a': { words: 'Assistants', act: () => void navigate({ to: '/assistants', search: {} }) },
    'g r': { words: 'Runs', act: () => void navigate({ to: '/runs', search: {} }) },
    'g d': { words: 'Deployments', act: () => void navigate({ to: '/deployments' }) },
    'g l': { words: 'Limits & keys', act: () => void navigate({ to: '/limits', search: {} }) },
    'g c': { words: 'Cluster', act: () => void navigate({ to: '/cluster', search: {} }) },
  })
  if (offered !== null) {
    return (
      <Suspense>
        <OfferedSession offered={offered} />
      </Suspense>
    )
  }
  if (needed !== null) {
    return (
      <Suspense>
        <SignIn reason={needed} elsewhere={elsewhere} />
      </Suspense>
    )
  }
  return (
    <div className={`${css['shell']} ${inThread ? css['inThread'] : ''}`}>
      <a className={css['skip']} href="#main" onClick={(event) => {
        event.preventDefault()
        document.getElementById('main')?.focus()
      }}>
        Skip to content
      </a>
      <Rail />
      <main id="main" tabIndex={-1} className={css['page']}>
        <Outlet />
      </main>
      <Overlays />
    </div>
  )
}
