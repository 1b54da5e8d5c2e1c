import { Client } from '@langchain/langgraph-sdk'
import { readFileSync } from 'node:fs'
const cs=[1,2,3].map(i=>new Client({apiUrl:`http://127.0.0.1:301${i}`, callerOptions:{maxRetries:0}}))
const victim=Number(process.argv[2]??3), sig=process.argv[3]??'SIGKILL'
const alive=[1,2,3].filter(i=>i!==victim)
const ids=[]; for(let i=0;i<40;i++) ids.push((await cs[0].threads.create()).thread_id)
const pid=Number(readFileSync(`/tmp/smoke-${victim}.pid`,'utf8'))
let stop=false, n=0, bad=[], worst=0
const loops=ids.map(async (id,k)=>{ while(!stop){ const s=performance.now(); try{ await cs[alive[k%2]-1].runs.wait(id,'echo',{input:{messages:[{role:'user',content:'x'}]}}); n++ }catch(e){ bad.push(String(e).slice(0,200)) } worst=Math.max(worst,performance.now()-s); await new Promise(r=>setTimeout(r,200)) } })
await new Promise(r=>setTimeout(r,4000)); console.log('before',n,'worst',worst|0); worst=0
const k=Date.now(); process.kill(pid,sig)
await new Promise(r=>setTimeout(r,9000)); console.log('after',n,'worst',worst|0,'bad',bad.length,[...new Set(bad)].slice(0,4)); stop=true; await Promise.all(loops)
