/** An app with one route, for callers whom the login knows. */

import { Hono } from 'hono'

export const app = new Hono()

app.get('/hello', (c) => c.json({ hello: 'world' }))
