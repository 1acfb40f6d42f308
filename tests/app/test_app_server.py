"""The server of the app without a browser: who is let in, what is handed out, and what stays behind."""

import http.client
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from importlib.resources import files
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import pytest

from isinglass.app import server as app_server
from isinglass.app import session as app_session
from isinglass.app.jobs import Changes, Job, JobQueue
from isinglass.app.recipe import Recipe
from isinglass.app.server import Server
from isinglass.app.session import OpenTable


@pytest.fixture(scope="module")
def one_server(tmp_path_factory):
    """One server for all tests: starting its workers takes longer than most of them."""
    with Server(tmp_path_factory.mktemp("session")) as found:
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def server(one_server):
    """The server without a table."""
    session = one_server.session
    with session.changes:
        session.queue.clear()
        session.inspections.clear()
        session.shown, session.opening, session.problem = OpenTable(Recipe(""), session.folder / "none"), None, ""
        for folder in session.folder.iterdir():
            shutil.rmtree(folder)
    return one_server


class Client:
    """Asks as a browser does, unless told otherwise."""

    def __init__(self, server):
        self.server, self.address = server, urlsplit(server.address)
        self.own = {"Origin": f"http://{self.address.netloc}"}

    def ask(self, method="GET", where="", body=None, path=None, **headers):
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, self.address.path + where if path is None else path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer, content

    def post(self, where, record=None, **headers):
        how = {"Content_Type": "application/json", **self.own, **headers}
        answer, content = self.ask("POST", where, json.dumps(record), **how)
        return answer.status, json.loads(content)

    def choose(self, changes):
        """Send a choice about the columns that are shown, and return the status."""
        return self.post(f"choose/{self.state()['layout']}", changes)[0]

    def upload(self, name, content):
        return self.ask("POST", f"upload/{quote(name, safe='')}", content, **self.own)[0].status

    def open(self, content, name="a.csv"):
        """Open a table, and return the state that shows it."""
        assert self.upload(name, content) == 200
        return self.state()

    def run(self, kind):
        """Run a job when the table has been read as chosen, and return the state at its end."""
        self.wait(lambda state: not state["is_reading"])
        assert self.post(f"run/{kind}")[0] == 200
        return self.wait(is_idle)

    def state(self):
        return json.loads(self.ask(where="state/0")[1])

    def wait(self, done, seconds=60):
        end = time.monotonic() + seconds
        while not done(state := self.state()):
            assert time.monotonic() < end, state
            time.sleep(0.05)
        return state


OPEN = ("waiting", "running")


def is_idle(state):
    return not state["is_reading"] and not any(job["state"] in OPEN for job in state["jobs"])


@pytest.fixture
def client(server):
    return Client(server)


@pytest.fixture
def mood():
    return files("isinglass.app").joinpath("mood.csv").read_bytes()


def packed(client):
    """Return the files of the zip."""
    with zipfile.ZipFile(io.BytesIO(client.ask(where="all.zip")[1])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_page_forbids_everything_from_elsewhere(client):
    answer, content = client.ask()
    assert answer.status == 200
    assert b"From a table to a network" in content
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"  # the address holds the token
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert client.server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("where", ["", "state", "client.js", "all.zip", "files/mood/edges.csv", "nothing"])
def test_nothing_is_handed_out_without_the_token(client, where):
    token = client.server.token
    for wrong in (
        "",
        token[:-1],
        token[:-1] + chr(ord(token[-1]) ^ 1),
        token + "x",
        "%00",
    ):
        answer, content = client.ask(path=f"/{wrong}/{where}")
        assert answer.status == 403, wrong
        assert token.encode() not in content


def test_tokens_differ_and_cannot_be_guessed(tmp_path, monkeypatch):
    monkeypatch.setattr(app_server, "Session", lambda folder: SimpleNamespace(close=lambda: None))
    tokens = set()
    for _ in range(3):
        with Server(tmp_path) as found:
            tokens.add(found.token)
    assert len(tokens) == 3
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""])
def test_a_name_that_was_bent_to_this_computer_is_refused(client, host):
    assert client.ask(Host=host)[0].status == 403
    assert client.post("example/mood.csv", Host=host)[0] == 403
    assert client.state()["file"] == ""


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", None])
def test_a_request_of_another_page_changes_nothing(client, origin):
    headers = {} if origin is None else {"Origin": origin}
    for where in ("example/mood.csv", "choose", "run/fit", "stop/1", "upload/a.csv"):
        answer, _ = client.ask("POST", where, b"{}", Content_Type="application/json", **headers)
        assert answer.status == 403, where
    assert client.state()["file"] == ""
    if origin is not None:
        assert client.ask(**headers)[0].status == 403


def test_a_browser_that_says_cross_site_is_refused(client):
    assert client.post("example/mood.csv", Sec_Fetch_Site="cross-site")[0] == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_unknown(client, method):
    assert client.ask(method, **client.own)[0].status == 501


def test_a_form_of_another_page_cannot_send_json(client):
    """Forms send without asking first, but not this type."""
    assert client.post("example/mood.csv", Content_Type="text/plain")[0] == 400


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[" * 100_000, b"null", b"7", b"\xff", b'{"job": ["fit"]}', b'{"number": true}']
)
@pytest.mark.parametrize("where", ["example/x", "choose", "run/no", "run", "stop/x", "stop", "nothing"])
def test_what_is_no_request_is_refused(client, where, body):
    answer, content = client.ask("POST", where, body, Content_Type="application/json", **client.own)
    assert answer.status == 400
    error = json.loads(content)["error"]
    assert error
    assert not [word for word in ("int()", "NoneType", "collections") if word in error]


def test_an_upload_is_bounded_before_it_is_read(client, monkeypatch):
    monkeypatch.setattr(app_session, "MOST_BYTES", 1000)
    answer, content = client.ask("POST", "upload/a.csv", b"x" * 1001, **client.own)
    assert (answer.status, b"up to" in content) == (400, True)
    connection = http.client.HTTPConnection("127.0.0.1", client.server.server_port, timeout=10)
    connection.putrequest("POST", client.address.path + "upload/a.csv")
    for name, value in {**client.own, "Content-Length": str(10**15)}.items():
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 400  # none of it was sent
    assert client.state()["file"] == ""
    assert list(client.server.session.folder.iterdir()) == []


def test_an_upload_without_its_end_leaves_nothing(server):
    with pytest.raises(ValueError, match="incomplete"):
        server.session.upload("a.csv", io.BytesIO(b"abc"), 10)
    assert list(server.session.folder.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/passwd", "..\\..\\evil.csv", "%2e%2e%2fevil.csv", "-o.csv", ".", "a\0b", "con.csv\n"],
)
def test_a_name_is_never_a_path(client, name):
    client.upload(name, b"a,b\n0,1\n1,0\n")
    kept = [path for path in client.server.session.folder.rglob("*") if path.is_file()]
    assert len(kept) == 1
    assert re.fullmatch(r"[\w%][\w%-]*(\.\w+)+", kept[0].name)
    assert kept[0].parent.parent == client.server.session.folder


def test_from_a_file_to_files(client, mood):
    state = client.open(mood, "My mood (2020).csv")
    assert "--weights weight" in state["steps"]["fit"]["command"]  # as `isinglass info` proposes
    assert state["table"]["n_rows"] == 500
    columns = {column["name"]: column for column in state["table"]["columns"]}
    assert columns["sad"]["kind"] == "binary"
    assert columns["sad"]["values"] == ["no", "yes"]
    assert columns["sad"]["missing"] == pytest.approx(0.01)
    choices = {**state["choices"], "weights": 0, "missing": "drop"}
    assert client.choose(choices) == 200
    assert "--weights weight" in client.state()["steps"]["fit"]["command"]
    assert client.post("run/bootstrap")[0] == 400  # nothing is fitted yet
    assert client.post("run/fit")[0] == 200
    state = client.run("fit")  # as after a double click
    assert [(job["kind"], job["number"]) for job in state["jobs"]] == [("fit", state["results"]["fit"]["made"])]
    assert "Certificate" in dict(state["results"]["fit"]["facts"])
    for name in ("My-mood-2020/edges.csv", "My-mood-2020/nodes.csv", "My-mood-2020/model.npz", "My-mood-2020.html"):
        answer, content = client.ask(where=f"files/{name}")
        assert (answer.status, len(content) > 100) == (200, True)
        assert "sandbox" in answer.headers["Content-Security-Policy"]
        assert "allow-same-origin" not in answer.headers["Content-Security-Policy"]
    own = "My-mood-2020"
    for name in ("My mood (2020).csv", f"../{own}.csv", f"{own}/../x.csv", f"{own}/..%2fx.csv", "/etc/passwd", own, ""):
        assert client.ask(where=f"files/{quote(name, safe='/%')}")[0].status == 404
    found = packed(client)
    assert {f"{own}/edges.csv", f"{own}.html", "commands.sh", "analysis.py"} <= found.keys()
    assert found[f"{own}/edges.csv"] == client.ask(where=f"files/{own}/edges.csv")[1]
    assert found["commands.sh"].startswith(b"isinglass fit 'My mood (2020).csv' ")
    assert b"read_table('My mood (2020).csv'" in found["analysis.py"].replace(b"\n    ", b"")
    client.choose({**choices, "left_out": [1]})
    assert client.state()["stale"]
    assert client.post("run/bootstrap") == (400, {"error": "The choices have changed since the fit. Fit again."})
    client.choose(choices)
    assert not client.state()["stale"]


@pytest.fixture
def ratings(client):
    """A session with a table of words, ratings and two values."""
    client.open(b"a,b,c\n" + b"x,1,0\ny,2,1\nz,9,1\nx,1,1\n" * 20)
    return client.server.session


def test_a_choice_that_cannot_be_read_is_refused(client, ratings):
    before = client.state()
    status, answer = client.post(f"choose/{before['layout']}", {"kinds": {"0": "continuous"}})
    assert status == 400
    assert answer["error"].startswith("a.csv: ")
    assert "'a'" in answer["error"]
    assert {name: client.state()[name] for name in ("table", "choices", "steps")} == {
        name: before[name] for name in ("table", "choices", "steps")
    }
    assert client.choose({"kinds": {"0": "nominal"}}) == 200
    assert client.state()["choices"]["kinds"] == {"0": "nominal"}


def test_choices_are_added_to_those_before(client, ratings):
    for changes in ({"codes": {"1": ["9"]}}, {"kinds": {"0": "nominal"}}, {"left_out": [2]}):
        assert client.choose(changes) == 200
    state = client.state()
    assert [column["kind"] for column in state["table"]["columns"]] == ["nominal", "binary", "binary"]
    assert [state["choices"][name] for name in ("codes", "kinds", "left_out")] == [{"1": ["9"]}, {"0": "nominal"}, [2]]
    state = client.run("fit")
    assert not state["stale"]
    command = "isinglass fit a.csv --nominal a --na b=9 --drop c --encode auto --missing impute -o a\n"
    assert ratings.shown.results["fit"].recipe.command_text("fit").startswith(command)


def test_nothing_starts_while_the_table_is_read_with_the_last_choice(client, ratings):
    choosing = threading.Thread(target=ratings.choose, args=({"codes": {"1": ["9"]}},))
    with ratings.changes:
        choosing.start()
        ratings.changes.wait_for(lambda: ratings._is_reading, 60)
        with pytest.raises(ValueError, match="being read"):
            ratings.run("fit")
    choosing.join()
    state = client.run("fit")
    assert (state["stale"], state["problem"]) == (False, "")
    assert "--na b=9" in ratings.shown.results["fit"].recipe.command_text("fit")


def test_what_was_made_from_a_result_goes_with_it(client, ratings, monkeypatch):
    client.choose({"ending": "svg", "resamples": 10, "figure": "bootstrap"})
    client.run("fit")
    assert client.post("run/figure") == (400, {"error": "Run the bootstrap first."})
    client.run("bootstrap")
    for figure in ("network", "bootstrap"):
        client.choose({"figure": figure})
        client.run("figure")
    results, before = client.state()["results"], packed(client)
    assert [*results] == ["fit", "bootstrap", "network.svg", "bootstrap.svg"]
    assert client.run("fit")["results"] == results  # of the same choices

    def stop_in_report(job, news):
        update(job, news)
        if job.text == "report":
            with ratings.changes:
                ratings.queue.stop(job)

    update = ratings.queue._update
    client.choose({"resamples": 11})
    with monkeypatch.context() as patched:
        patched.setattr(ratings.queue, "_update", stop_in_report)
        state = client.run("bootstrap")
    assert [(job["kind"], job["state"]) for job in state["jobs"]] == [("bootstrap", "stopped")]
    assert packed(client) == before

    with ratings.changes:  # before it has ended, a figure would be of the one before
        ratings.run("bootstrap")
        with pytest.raises(ValueError, match="Run the bootstrap first"):
            ratings.run("figure")
    state = client.wait(is_idle)
    assert [*state["results"]] == ["fit", "network.svg", "bootstrap"]
    after = packed(client)
    assert before.keys() - after.keys() == {"a-figures/bootstrap.svg"}
    assert after["a.html"] != before["a.html"]
    assert after["a-figures/network.svg"] == before["a-figures/network.svg"]
    assert after["commands.sh"].count(b"--resamples 11") == 1
    assert b"--resamples 10" not in after["commands.sh"]
    client.choose({"left_out": [0]})
    assert [*client.run("fit")["results"]] == ["fit"]
    assert client.post("run/figure") == (400, {"error": "Run the bootstrap first."})


def test_a_comparison_of_other_groups_is_stale(client):
    rows = "".join(f"{k % 2},{k * k % 3 % 2},{'xy'[k % 2]},{'uv'[k // 2 % 2]}\n" for k in range(60))
    client.open(b"a,b,sex,land\n" + rows.encode())
    client.choose({"left_out": [2, 3], "groups": 2, "permutations": 3})
    client.run("fit")
    client.run("compare")
    for groups, stale in ((2, False), (3, True), (None, True), (2, False)):
        client.choose({"groups": groups})
        state = client.state()
        assert (state["stale"], state["results"]["compare"]["stale"]) == (False, stale)


@pytest.mark.parametrize("code", ["a=b", "=", "no answer, because " + 20 * "really, " + "none", "a\nb"])
def test_any_value_can_be_a_code_for_missing_answers(client, code):
    quoted = '"' + code + '"'
    client.upload("a.csv", ("a,b,c\n" + f"1,0,{quoted}\n0,1,x\n1,1,y\n" * 20).encode())
    column = client.wait(lambda state: state["table"])["table"]["columns"][2]
    assert code in column["values"]
    for place in ("2", "-1"):
        assert client.choose({"codes": {"2": None, "-1": None, place: [code]}}) == 200
        state = client.wait(is_idle)
        assert state["problem"] == ""
        assert state["table"]["columns"][2]["missing"] == pytest.approx(1 / 3)


def test_columns_of_the_same_name_are_not_to_be_unticked_before_they_are_shown(client):
    client.upload("a.csv", b"a,b,a\n" + b"1,0,1\n0,1,1\n" * 20)
    problem = client.wait(lambda state: state["problem"])["problem"]
    assert "got 'a' twice. Rename a column" in problem


def test_a_full_disk_is_an_answer(client, monkeypatch):
    from pathlib import Path

    def fail(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    answer, content = client.ask("POST", "upload/a.csv", b"a,b\n0,1\n", **client.own)
    assert (answer.status, b"No space left on device" in content) == (500, True)
    assert list(client.server.session.folder.iterdir()) == []


def test_a_column_whose_kind_is_refused_is_left_out_again(client):
    rows = "".join(f"{k % 2},{k % 3 % 2},word{k}\n" for k in range(60))
    client.upload("a.csv", b"a,b,text\n" + rows.encode())
    before = client.wait(lambda state: state["table"])["steps"]["fit"]
    assert "--drop text" in before["command"]
    assert client.choose({"kinds": {"2": "continuous"}}) == 400
    state = client.state()
    assert (state["choices"]["kinds"], state["steps"]["fit"]) == ({}, before)


def test_a_choice_about_columns_that_have_moved_is_refused(client):
    rows = "".join(f"p{k},{k % 2},{k % 3},{k % 5}\n" for k in range(60))
    before = client.open(b"person,a,b,c\n" + rows.encode())
    assert before["table"]["columns"][0]["name"] == "a"
    assert client.post("again/variable")[0] == 200
    state = client.wait(lambda state: state["table"]["columns"][0]["name"] == "person")
    assert (state["file"], state["row_names"]) == ("a.csv", False)
    status, answer = client.post(f"choose/{before['layout']}", {"kinds": {"1": "nominal"}})  # b, which was at place 1
    assert (status, answer["error"]) == (400, "The columns have changed meanwhile. Choose again.")
    assert client.state()["choices"]["kinds"] == {}
    client.post("again/names")
    assert client.wait(lambda state: state["row_names"])["table"] == before["table"]


def test_results_stay_until_a_new_fit_has_ended(client, ratings):
    client.choose({"left_out": [0]})
    first = client.run("fit")["results"]["fit"]["made"]
    edges = client.ask(where="files/a/edges.csv")[1]
    client.choose({"left_out": [1]})
    with ratings.changes:
        ratings.run("fit")
        ratings.stop(ratings.queue.jobs[-1].number)
    state = client.wait(is_idle)
    assert (state["results"]["fit"]["made"], state["stale"]) == (first, True)
    client.choose({"left_out": [0, 1]})  # one column: no network
    state = client.run("fit")
    assert [job["state"] for job in state["jobs"]] == ["failed"]
    assert state["results"]["fit"]["made"] == first
    assert client.ask(where="files/a/edges.csv")[1] == edges
    client.choose({"left_out": [2]})
    with ratings.changes:  # before the fit has ended
        ratings.run("fit")
        with pytest.raises(ValueError, match="Fit the network first"):  # the figure would be of the network before
            ratings.run("figure")
    state = client.wait(lambda state: state["results"]["fit"]["made"] != first)
    assert not state["stale"]
    assert client.ask(where="files/a/edges.csv")[1] != edges
    assert len(list(ratings.folder.rglob("edges.csv"))) == 1


def test_a_file_that_is_no_table_says_why(client):
    client.upload("a.csv", b"<!doctype html><p>hello")
    state = client.wait(lambda state: state["problem"])
    assert "web page" in state["problem"]
    assert state["table"] is None
    assert client.post("run/fit")[0] == 400


def test_a_table_is_read_and_another_refused_while_a_bootstrap_runs(client, ratings):
    client.choose({"missing": "drop", "resamples": 50_000})
    client.run("fit")
    client.upload("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\r")  # nothing runs
    client.wait(lambda state: state["problem"])
    client.post("run/bootstrap")
    client.wait(lambda state: any(job["count"] for job in state["jobs"] if job["kind"] == "bootstrap"))
    client.choose({"codes": {"1": ["9"]}})
    before = client.wait(lambda state: state["table"]["columns"][1]["kind"] == "binary")
    assert before["stale"]
    client.upload("photo.png", b"\x89PNG\r\n\x1a\n\0\0\0\r")
    state = client.wait(lambda state: state["problem"])
    assert state["problem"].startswith("photo.png: ")
    assert [job["state"] for job in state["jobs"] if job["kind"] == "bootstrap"] == ["running"]
    assert {name: state[name] for name in ("file", "table", "choices", "results")} == {
        name: before[name] for name in ("file", "table", "choices", "results")
    }
    assert client.ask(where="files/a/edges.csv")[0].status == 200
    assert list(ratings.folder.rglob("photo.png")) == []
    state = client.open(b"a,b\n0,1\n1,0\n", "other.csv")  # a table does not wait for the bootstrap
    assert (state["results"], state["jobs"], state["problem"]) == ({}, [], "")
    assert len(list(ratings.folder.iterdir())) == 1


class Recorder:
    """Stands for the session's side of jobs."""

    def __init__(self):
        self.ended = []
        self.changed = Changes()
        self.jobs = JobQueue(self.changed, self.ended.append)

    def add(self, commands, folder):
        job = Job("fit", SimpleNamespace(commands=lambda kind: commands, key=lambda kind: kind), folder)
        with self.changed:
            self.jobs.start(job)
        return job

    def wait(self, done, seconds=60):
        with self.changed:
            assert self.changed.wait_for(done, seconds)


@pytest.fixture(scope="module")
def one_recorder():
    found = Recorder()
    yield found
    found.jobs.close()


@pytest.fixture
def recorder(one_recorder):
    one_recorder.ended.clear()
    return one_recorder


def test_one_job_at_a_time_and_a_stop_is_at_once(recorder, tmp_path, mood):
    (tmp_path / "mood.csv").write_bytes(mood)
    read = ["mood.csv", "--drop", "weight", "--encode", "auto", "--missing", "drop"]
    long = recorder.add([["bootstrap", *read, "-B", "5000", "-o", "long"]], tmp_path)
    short = recorder.add([["fit", *read, "-o", "net"]], tmp_path)
    late = recorder.add([["fit", *read, "-o", "late"]], tmp_path)
    recorder.wait(lambda: long.total == 5000 and long.count > 0)  # after the folds of the fit itself
    assert long.left > 0
    assert (short.state, late.state) == ("waiting", "waiting")
    with recorder.changed:
        recorder.jobs.stop(late)
        before = time.monotonic()
        recorder.jobs.stop(long)
    recorder.wait(lambda: short.state == "done")
    assert (long.state, late.state, short.error) == ("stopped", "stopped", "")
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == ["mood.csv", "net"]
    assert before < time.monotonic()
    assert recorder.ended == [short]


def test_a_worker_that_dies_fails_its_job_and_not_the_next(recorder, tmp_path, mood):
    (tmp_path / "mood.csv").write_bytes(mood)
    read = ["mood.csv", "--drop", "weight", "--encode", "auto", "--missing", "drop"]
    first = recorder.add([["bootstrap", *read, "-B", "5000"]], tmp_path)
    second = recorder.add([["fit", *read]], tmp_path)
    recorder.wait(lambda: first.total == 5000 and first.count > 0)
    recorder.jobs._worker.kill()
    recorder.wait(lambda: second.state == "done")
    assert first.state == "failed"
    assert "memory" in first.error


def test_a_failure_is_shown_until_the_job_is_tried_again(client):
    client.open(b"a,b,c\n" + b"0,1,x\n1,0,y\n1,1,y\n" * 20 + b"1,1,z\n")
    client.choose({"groups": 2})
    client.run("fit")
    client.run("compare")  # one group has a single row
    client.choose({"figure": "centrality", "ending": "svg"})
    state = client.run("figure")
    assert [(job["kind"], job["state"]) for job in state["jobs"]] == [("compare", "failed"), ("figure", "done")]
    assert "“Groups to compare” must have at least two rows each; got one row in 'z'" in state["jobs"][0]["error"]
    client.choose({"groups": 1, "permutations": 3})
    client.run("fit")
    state = client.run("compare")
    assert [(job["kind"], job["state"]) for job in state["jobs"]] == [("compare", "done")]


def test_a_failing_command_says_what_it_said(recorder, tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n0,1\n2,3\n")
    job = recorder.add([["fit", "a.csv"], ["fit", "never.csv"]], tmp_path)
    recorder.wait(lambda: job.state == "failed")
    assert "'a'" in job.error
    assert "never" not in job.error


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_and_removes_the_files(tmp_path, mood, number):
    (tmp_path / "mood.csv").write_bytes(mood)
    place = tmp_path / "temporary"
    place.mkdir()
    words = ["app", "--no-browser", str(tmp_path / "mood.csv")]
    with subprocess.Popen(
        [sys.executable, "-m", "isinglass", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    ) as process:
        client = Client(type("Known", (), {"address": process.stdout.readline().strip()}))
        client.wait(lambda state: state["table"])
        client.post("run/fit")
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True)
        children = [int(word) for word in found.stdout.split()]
        assert children
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    assert list(place.iterdir()) == []
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_a_port_that_is_taken_is_an_error(server):
    from commands import error_line, run

    assert "--port" in error_line(run("app", "--no-browser", "--port", server.server_port, code=2))


def test_a_table_above_the_limit_is_an_error_of_usage(tmp_path, monkeypatch):
    from commands import error_line, run

    monkeypatch.setattr(app_session, "MOST_BYTES", 10)
    (tmp_path / "a.csv").write_text("a,b\n0,1\n1,0\n")
    assert "Use the command line" in error_line(run("app", "--no-browser", tmp_path / "a.csv", code=2))
