/* SPDX-License-Identifier: MIT */
/*
 * sim_shared.c - the other clients; see sim_shared.h.  Theirs is the kinder
 * side: a record comes to them once it is finished.
 */
#include "tests/fake_gpu/sim_shared.h"

#include "tests/fake_gpu/sim_record.h"
#include <pthread.h>
#include <string.h>

enum { MOST_CLIENTS = 4, DOMAINS = 7, MOST_CBIDS = 2048 };

static struct client {
	int is_there;
	CUpti_CallbackFunc callback;
	void *argument;
	_Atomic char calls[DOMAINS][MOST_CBIDS];
	shared_request ask;
	shared_complete give_back;
	_Atomic char wants[KIND_COUNT];
	uint8_t *data;
	size_t size, used;
} clients[MOST_CLIENTS];

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Atomic int state = SHARING_UNSAID;

enum sharing shared_state(void)
{
	return (enum sharing)state;
}

void shared_decide(int is_shared)
{
	if (state == SHARING_UNSAID)
		state = is_shared ? SHARING_YES : SHARING_NO;
}

void *shared_join(CUpti_CallbackFunc callback, void *argument)
{
	for (int i = 0; i < MOST_CLIENTS; i++) {
		if (!clients[i].is_there) {
			memset(&clients[i], 0, sizeof(clients[i]));
			clients[i].callback = callback;
			clients[i].argument = argument;
			clients[i].is_there = 1;
			return &clients[i];
		}
	}
	return NULL;
}

int shared_is(const void *client)
{
	for (int i = 0; i < MOST_CLIENTS; i++)
		if (client == &clients[i])
			return clients[i].is_there;
	return 0;
}

int shared_enable_callback(void *client, CUpti_CallbackDomain domain,
			   uint32_t cbid, int on)
{
	if ((int)domain <= 0 || (int)domain >= DOMAINS || cbid >= MOST_CBIDS)
		return 0;
	((struct client *)client)->calls[domain][cbid] = (char)on;
	return 1;
}

void shared_call_back(CUpti_CallbackDomain domain, uint32_t cbid,
		      const void *data)
{
	for (int i = 0; i < MOST_CLIENTS; i++)
		if (clients[i].is_there && (int)domain < DOMAINS &&
		    cbid < MOST_CBIDS && clients[i].calls[domain][cbid])
			clients[i].callback(clients[i].argument, domain, cbid,
					    data);
}

static void give_back(struct client *client)
{
	uint8_t *data = client->data;
	const size_t used = client->used;

	client->data = NULL;
	client->used = 0;
	if (data && client->give_back)
		client->give_back(data, client->size, used, NULL);
}

void shared_leave(void *client)
{
	pthread_mutex_lock(&lock);
	((struct client *)client)->is_there = 0;
	pthread_mutex_unlock(&lock);
}

void shared_register(void *of, shared_request request, shared_complete complete)
{
	struct client *client = of;

	client->ask = request;
	client->give_back = complete;
}

void shared_enable(void *client, CUpti_ActivityKind kind, int on)
{
	((struct client *)client)->wants[kind] = (char)on;
}

unsigned int shared_wants(CUpti_ActivityKind kind)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < MOST_CLIENTS; i++)
		if (clients[i].is_there && clients[i].wants[kind])
			found |= 1u << i;
	return found;
}

static void put(struct client *client, const void *record, size_t size)
{
	size_t most = 0;

	if (client->data && client->used + size > client->size)
		give_back(client);
	if (!client->data && client->ask)
		client->ask(&client->data, &client->size, &most, NULL);
	if (!client->data)
		return;
	memcpy(client->data + client->used, record, size);
	client->used += size;
}

void shared_put(const void *record, size_t size, unsigned int of)
{
	if (!of)
		return;
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < MOST_CLIENTS; i++)
		if (clients[i].is_there && of >> i & 1)
			put(&clients[i], record, size);
	pthread_mutex_unlock(&lock);
}

void shared_flush(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST_CLIENTS; i++)
		if (clients[i].is_there)
			give_back(&clients[i]);
	pthread_mutex_unlock(&lock);
}
