/**
 * The graph of agent.ts as a virtual object of Restate. Its runs are exclusive handlers, which
 * Restate executes one after another for each thread. An effect is a durable step.
 */
import * as restate from '@restatedev/restate-sdk'

async function append(ctx, entry) {
  const log = (await ctx.get('log')) ?? []
  ctx.set('log', [...log, entry])
}

async function charge(token, key) {
  const response = await fetch(`${process.env.RECEIVER}/charge`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: token,
  })
  if (!response.ok) throw new Error(`The receiver returned ${response.status}.`)
  return await response.text()
}

const thread = restate.object({
  name: 'thread',
  handlers: {
    run: async (ctx, { token, action, ms }) => {
      await append(ctx, `${token}:in`)
      if (action === 'slow') await ctx.sleep(ms)
      if (action === 'fail') throw new restate.TerminalError(`Task ${token} fails.`)
      if (action === 'charge') {
        const key = ctx.rand.uuidv4()
        const receipt = await ctx.run('charge', () => charge(token, key))
        await append(ctx, `${token}:receipt:${receipt}`)
      }
      await append(ctx, `${token}:out`)
      return { log: await ctx.get('log') }
    },
    update: append,
    read: restate.handlers.object.shared(async (ctx) => ({ log: (await ctx.get('log')) ?? [] })),
  },
})

restate.serve({ services: [thread], port: Number(process.env.PORT) })
