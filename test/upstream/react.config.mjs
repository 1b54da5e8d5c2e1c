/** How the suite of the React hooks runs in a browser, against the server that HEDDLE_URL names. */

import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [react()],
  test: {
    globals: true,
    testTimeout: 5_000,
    retry: 1,
    globalSetup: ['./react-server.mjs'],
    browser: {
      enabled: true,
      connectTimeout: 120_000,
      provider: playwright({
        launchOptions: { executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] },
      }),
      instances: [{ browser: 'chromium', headless: true }],
      screenshotFailures: false,
    },
    include: ['react/src/**/*.test.tsx'],
  },
})
