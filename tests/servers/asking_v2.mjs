// The same as `asking_python.py`, of the second version of TypeScript's SDK. With `--modern` it
// knows nothing but the era without a handshake.

import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { load } from './packages.mjs';

const sdk = await load('@modelcontextprotocol/server');
const { serveStdio } = await load('@modelcontextprotocol/server/stdio');

const form = (name, type) => ({ type: 'object', properties: { [name]: { type } }, required: [name] });

/** Each tool's text, by its name. */
const tools = {
    async ask({ ctx }) {
        const outcome = await ctx.mcpReq.elicitInput({ message: 'Who are you?', requestedSchema: form('name', 'string') });
        return `${outcome.action}: ${JSON.stringify(outcome.content)}`;
    },
    async sample({ ctx }) {
        const messages = [{ role: 'user', content: { type: 'text', text: 'Say something.' } }];
        return (await ctx.mcpReq.requestSampling({ messages, maxTokens: 20 })).content.text;
    },
    async roots({ server }) {
        return (await server.listRoots()).roots.map((root) => root.uri).join(', ');
    },
    async log({ ctx }) {
        await ctx.mcpReq.log('debug', 'of debug');
        await ctx.mcpReq.log('info', 'of info');
        await ctx.mcpReq.log('warning', 'of warning', 'own');
        await ctx.mcpReq.log('error', { of: 'error' });
        return 'logged';
    },
    async drop({ server, ctx }) {
        if (server.getClientCapabilities()?.elicitation) {
            const outcome = await ctx.mcpReq.elicitInput({ message: 'Drop all of it?', requestedSchema: form('sure', 'boolean') });
            if (outcome.action !== 'accept' || !outcome.content.sure) return 'kept';
        }
        return 'dropped';
    },
    async 'ask-in-answer'({ ctx }) {
        const given = ctx.mcpReq.inputResponses?.name;
        if (given) return `${given.action}: ${JSON.stringify(given.content)}`;
        const question = sdk.inputRequired.elicit({ message: 'And you?', requestedSchema: form('name', 'string') });
        return sdk.inputRequired({ inputRequests: { name: question } });
    },
    async told({ server }) {
        return JSON.stringify(Object.entries(server.getClientCapabilities() ?? {}).sort());
    },
};

function make() {
    const server = new sdk.Server({ name: 'asking', version: '1' }, { capabilities: { tools: {}, logging: {} } });
    server.setRequestHandler('tools/list', () => ({
        tools: Object.keys(tools).map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' } })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, ctx) => {
        try {
            const answer = await tools[params.name]({ server, ctx });
            return typeof answer === 'string' ? { content: [{ type: 'text', text: answer }] } : answer;
        } catch (error) {
            return { content: [{ type: 'text', text: error.message }], isError: true };
        }
    });
    return server;
}

/** A request of Node as the web's, which is what the SDK takes. */
function asked(request) {
    const { method, url, headers } = request;
    const body = ['GET', 'HEAD'].includes(method) ? undefined : Readable.toWeb(request);
    return new Request(new URL(url, 'http://127.0.0.1'), { method, headers, body, duplex: 'half' });
}

if (process.argv.includes('--http')) {
    const isModern = process.argv.includes('--modern');
    const modern = sdk.createMcpHandler(make, { legacy: 'reject' });
    const sessions = new Map();
    async function legacy(request) {
        let transport = sessions.get(request.headers.get('mcp-session-id'));
        if (!transport) {
            transport = new sdk.WebStandardStreamableHTTPServerTransport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: (id) => sessions.set(id, transport),
            });
            await make().connect(transport);
        }
        return transport.handleRequest(request);
    }
    const listening = createServer(async (request, response) => {
        const wanted = asked(request);
        const isLegacy = !isModern && (await sdk.isLegacyRequest(wanted));
        const answer = await (isLegacy ? legacy(wanted) : modern.fetch(wanted));
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.flushHeaders();
        if (answer.body) Readable.fromWeb(answer.body).pipe(response);
        else response.end();
    });
    listening.listen(0, '127.0.0.1');
} else {
    serveStdio(make, { legacy: process.argv.includes('--modern') ? 'reject' : 'serve' });
}
