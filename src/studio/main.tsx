/** Starts the page. */

import './design/fonts.css'
import './design/tokens.css'
import './design/base.css'
import './design/pieces.css'

import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { queries } from './api/query.ts'
import { router } from './router.tsx'
import { takeSessionFromAddress } from './session.ts'
import { watchConnection } from './shell/connection.ts'
import { listenToKeys } from './parts/keys.ts'

takeSessionFromAddress()
listenToKeys()
watchConnection()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
